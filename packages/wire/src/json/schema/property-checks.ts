import { isRecord } from '../is-record.ts';
import { checkMember, hasMember, type Check, type CheckRun, type Evaluated } from './check-run.ts';
import {
  checkOf,
  checksByName,
  every,
  type ApplicatorContext,
  type SchemaMap,
} from './applicator-context.ts';
import { notAllowed } from './issues.ts';
import type { JsonObject } from './schema-applicators.ts';
import type { Pattern } from './patterns.ts';

export function checkProperties(context: ApplicatorContext): Check {
  const checks = checksByName(context, 'properties');
  return (value, run, evaluated) => {
    if (!isRecord(value)) return true;
    run.spend(checks.length);
    // A loop instead of `every`: this runs for every object.
    let isValid = true;
    for (const [name, check] of checks) {
      if (!hasMember(value, name) || member(value, name, check, run, evaluated)) continue;
      isValid = false;
      if (run.stopsAtFirst) break;
    }
    return isValid;
  };
}

function member(
  value: JsonObject,
  name: string,
  check: Check,
  run: CheckRun,
  evaluated: Evaluated | null,
): boolean {
  evaluated?.add(name, run);
  return checkMember(check, value[name], name, run);
}

export function checkPatternProperties(context: ApplicatorContext): Check {
  const checks = checksByName(context, 'patternProperties').map(([source, check]) => ({
    pattern: context.patternOf(source),
    check,
  }));
  return (value, run, evaluated) => {
    if (!isRecord(value)) return true;
    return every(Object.keys(value), run, (name) =>
      every(checks, run, ({ pattern, check }) => {
        run.spend(1 + name.length * pattern.stepsPerChar);
        return !pattern.test(name) || member(value, name, check, run, evaluated);
      }),
    );
  };
}

export function checkAdditionalProperties(context: ApplicatorContext): Check {
  const check = checkOf(context, 'additionalProperties');
  const isForbidden = context.schema['additionalProperties'] === false;
  const named = new Set(Object.keys((context.schema['properties'] as SchemaMap | undefined) ?? {}));
  const patterns = Object.keys((context.schema['patternProperties'] as SchemaMap | undefined) ?? {}).map(
    context.patternOf,
  );
  return (value, run, evaluated) => {
    if (!isRecord(value)) return true;
    const names = Object.keys(value);
    run.spend(names.length);
    let isValid = true;
    for (const name of names) {
      if (named.has(name) || matchesAny(patterns, name, run)) continue;
      if (isForbidden ? run.fail(notAllowed(name)) : member(value, name, check, run, evaluated)) continue;
      isValid = false;
      if (run.stopsAtFirst) break;
    }
    return isValid;
  };
}

function matchesAny(patterns: readonly Pattern[], name: string, run: CheckRun): boolean {
  for (const pattern of patterns) {
    run.spend(1 + name.length * pattern.stepsPerChar);
    if (pattern.test(name)) return true;
  }
  return false;
}

export function checkPropertyNames(context: ApplicatorContext): Check {
  const check = checkOf(context, 'propertyNames');
  return (value, run) => {
    if (!isRecord(value)) return true;
    return every(Object.keys(value), run, (name) => checkMember(check, name, name, run));
  };
}

export function checkUnevaluatedProperties(context: ApplicatorContext): Check {
  const check = checkOf(context, 'unevaluatedProperties');
  const isForbidden = context.schema['unevaluatedProperties'] === false;
  return (value, run, evaluated) => {
    if (!isRecord(value)) return true;
    const left = Object.keys(value).filter((name) => evaluated?.has(name) !== true);
    run.spend(left.length);
    return every(left, run, (name) =>
      isForbidden ? run.fail(notAllowed(name)) : member(value, name, check, run, evaluated),
    );
  };
}
