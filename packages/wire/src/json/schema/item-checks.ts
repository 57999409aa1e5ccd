import { reason } from '../../reasons/reason-text.ts';
import { checkMember, matches, type Check, type CheckRun, type Evaluated } from './check-run.ts';
import { checkOf, checksOf, every, type ApplicatorContext } from './applicator-context.ts';

export function checkPrefixItems(context: ApplicatorContext): Check {
  const checks = checksOf(context, 'prefixItems');
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    return every(checks.slice(0, value.length).entries(), run, ([place, check]) =>
      item(value, place, check, run, evaluated),
    );
  };
}

function item(
  value: readonly unknown[],
  place: number,
  check: Check,
  run: CheckRun,
  evaluated: Evaluated | null,
): boolean {
  evaluated?.add(place, run);
  return checkMember(check, value[place], place, run);
}

export function checkItems(context: ApplicatorContext): Check {
  const check = checkOf(context, 'items');
  const first = ((context.schema['prefixItems'] as readonly unknown[] | undefined) ?? []).length;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let isValid = true;
    for (let place = first; place < value.length; place += 1) {
      if (item(value, place, check, run, evaluated)) continue;
      isValid = false;
      if (run.stopsAtFirst) break;
    }
    return isValid;
  };
}

export function checkContains(context: ApplicatorContext): Check {
  const check = checkOf(context, 'contains');
  const min = (context.schema['minContains'] as number | undefined) ?? 1;
  const max = (context.schema['maxContains'] as number | undefined) ?? Number.POSITIVE_INFINITY;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let passed = 0;
    for (const place of value.keys()) {
      if (!matches(check, value[place], run, null)) continue;
      passed += 1;
      evaluated?.add(place, run);
    }
    if (passed < min) return run.fail(reason('issue_min_contains', { limit: min }));
    return passed <= max || run.fail(reason('issue_max_contains', { limit: max }));
  };
}

export function checkUnevaluatedItems(context: ApplicatorContext): Check {
  const check = checkOf(context, 'unevaluatedItems');
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const left = [...value.keys()].filter((place) => evaluated?.has(place) !== true);
    run.spend(value.length);
    return every(left, run, (place) => item(value, place, check, run, evaluated));
  };
}
