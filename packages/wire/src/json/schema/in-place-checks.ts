import { reason, type Reason } from '../../reasons/reason-text.ts';
import { isRecord } from '../is-record.ts';
import { hasMember, matches, type Check, type CheckRun } from './check-run.ts';
import { checkOf, checksByName, checksOf, every, type ApplicatorContext } from './applicator-context.ts';

export function checkAllOf(context: ApplicatorContext): Check {
  const checks = checksOf(context, 'allOf');
  return (value, run, evaluated) => every(checks, run, (check) => check(value, run, evaluated));
}

export function checkAnyOf(context: ApplicatorContext): Check {
  const checks = checksOf(context, 'anyOf');
  return (value, run, evaluated) => {
    let passed = 0;
    for (const check of checks) {
      if (matches(check, value, run, evaluated)) passed += 1;
      // Every matching schema contributes to `evaluated`, so the loop can stop early only without it.
      if (passed > 0 && evaluated === null) break;
    }
    return passed > 0 || reportEach(checks, value, run, reason('issue_any_of'));
  };
}

export function checkOneOf(context: ApplicatorContext): Check {
  const checks = checksOf(context, 'oneOf');
  return (value, run, evaluated) => {
    let passed = 0;
    for (const check of checks) if (matches(check, value, run, evaluated)) passed += 1;
    if (passed === 1) return true;
    if (passed > 1) return run.fail(reason('issue_one_of_several'));
    return reportEach(checks, value, run, reason('issue_one_of'));
  };
}

/** Records the issues of each schema when none matched. */
function reportEach(checks: readonly Check[], value: unknown, run: CheckRun, why: Reason): false {
  for (const check of checks) {
    if (run.stopsAtFirst) break;
    check(value, run, null);
  }
  return run.fail(why);
}

export function checkNot(context: ApplicatorContext): Check {
  const check = checkOf(context, 'not');
  return (value, run) => !matches(check, value, run, null) || run.fail(reason('issue_not'));
}

export function checkIf(context: ApplicatorContext): Check {
  const { schema } = context;
  const condition = checkOf(context, 'if');
  const then = schema['then'] === undefined ? null : checkOf(context, 'then');
  const otherwise = schema['else'] === undefined ? null : checkOf(context, 'else');
  return (value, run, evaluated) => {
    const branch = matches(condition, value, run, evaluated) ? then : otherwise;
    return branch === null || branch(value, run, evaluated);
  };
}

export function checkDependentSchemas(context: ApplicatorContext): Check {
  const checks = checksByName(context, 'dependentSchemas');
  return (value, run, evaluated) => {
    if (!isRecord(value)) return true;
    return every(checks, run, ([name, check]) => !hasMember(value, name) || check(value, run, evaluated));
  };
}
