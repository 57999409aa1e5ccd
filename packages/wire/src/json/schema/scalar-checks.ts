import { reason, type Reason } from '../../reasons/reason-text.ts';
import { canonicalJson } from '../canonical-json.ts';
import { isRecord } from '../is-record.ts';
import { hasMember, type Check, type CheckRun } from './check-run.ts';
import { FORMATS, type FormatCheck } from './formats.ts';
import { constant, oneOf, ofType } from './issues.ts';
import { checkMultipleOf } from './multiple-of.ts';
import type { JsonObject } from './schema-applicators.ts';
import { isUnique } from './unique-items.ts';

/** Some checks scan a string; ten characters take less than the time of one step. */
const CHARS_PER_STEP = 10;

/** Builds the checks of keywords that contain no schemas. The keyword values have been validated before. */
export const SCALAR_CHECKS: ReadonlyMap<string, (wanted: never, schema: JsonObject) => Check> = new Map<
  string,
  (wanted: never, schema: JsonObject) => Check
>([
  ['type', checkType],
  ['enum', (values: readonly unknown[]) => checkValues(values, oneOf(values))],
  ['const', (value: unknown) => checkValues([value], constant(value))],
  ['minimum', (limit: number) => checkNumber((value) => value >= limit, reason('issue_minimum', { limit }))],
  ['maximum', (limit: number) => checkNumber((value) => value <= limit, reason('issue_maximum', { limit }))],
  [
    'exclusiveMinimum',
    (limit: number) => checkNumber((value) => value > limit, reason('issue_exclusive_minimum', { limit })),
  ],
  [
    'exclusiveMaximum',
    (limit: number) => checkNumber((value) => value < limit, reason('issue_exclusive_maximum', { limit })),
  ],
  ['multipleOf', checkMultipleOf],
  ['minLength', checkMinLength],
  ['maxLength', checkMaxLength],
  ['format', checkFormat],
  [
    'minItems',
    (limit: number) => checkItems((items) => items.length >= limit, reason('issue_min_items', { limit })),
  ],
  [
    'maxItems',
    (limit: number) => checkItems((items) => items.length <= limit, reason('issue_max_items', { limit })),
  ],
  ['uniqueItems', checkUnique],
  [
    'minProperties',
    (limit: number) => checkSize((size) => size >= limit, reason('issue_min_properties', { limit })),
  ],
  [
    'maxProperties',
    (limit: number) => checkSize((size) => size <= limit, reason('issue_max_properties', { limit })),
  ],
  ['required', checkRequired],
  ['dependentRequired', checkDependentRequired],
]);

function checkType(wanted: string | readonly string[]): Check {
  const types = typeof wanted === 'string' ? [wanted] : wanted;
  const why = ofType(types);
  const [first, ...others] = types.map((type) => TYPE_TESTS[type as keyof typeof TYPE_TESTS]);
  if (first === undefined) return (_value, run) => run.fail(why);
  if (others.length === 0) return (value, run) => first(value) || run.fail(why);
  return (value, run) => first(value) || others.some((isOfType) => isOfType(value)) || run.fail(why);
}

const TYPE_TESTS = {
  array: Array.isArray,
  boolean: (value: unknown) => typeof value === 'boolean',
  integer: Number.isInteger,
  null: (value: unknown) => value === null,
  number: (value: unknown) => typeof value === 'number',
  object: isRecord,
  string: (value: unknown) => typeof value === 'string',
} satisfies Record<string, (value: unknown) => boolean>;

function checkValues(allowed: readonly unknown[], why: Reason): Check {
  const scalars = new Set(allowed.filter((value) => typeof value !== 'object' || value === null));
  const texts = new Set(
    allowed.filter((value) => typeof value === 'object' && value !== null).map(canonicalJson),
  );
  return (value, run) => {
    if (typeof value !== 'object' || value === null) return scalars.has(value) || run.fail(why);
    if (texts.size === 0) return run.fail(why);
    spendOnWhole(value, run);
    return texts.has(canonicalJson(value)) || run.fail(why);
  };
}

function checkNumber(isAllowed: (value: number) => boolean, why: Reason): Check {
  return (value, run) => typeof value !== 'number' || isAllowed(value) || run.fail(why);
}

function checkMinLength(limit: number): Check {
  const why = reason('issue_min_length', { limit });
  // A character has at most two UTF-16 units, so most texts need no count.
  return (value, run) =>
    typeof value !== 'string' ||
    value.length >= 2 * limit ||
    characters(value, run) >= limit ||
    run.fail(why);
}

function checkMaxLength(limit: number): Check {
  const why = reason('issue_max_length', { limit });
  return (value, run) =>
    typeof value !== 'string' || value.length <= limit || characters(value, run) <= limit || run.fail(why);
}

/** Counts code points: a surrogate pair is one character. */
function characters(text: string, run: CheckRun): number {
  run.spend(text.length / CHARS_PER_STEP);
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

function checkFormat(name: string): Check {
  const format: FormatCheck | undefined = FORMATS.get(name);
  const why = reason('issue_format', { format: name });
  return (value, run) => {
    if (format === undefined || typeof value !== format.type) return true;
    if (typeof value === 'string') run.spend(40 + value.length / CHARS_PER_STEP);
    return format.validate(value as never) || run.fail(why);
  };
}

function checkItems(isAllowed: (items: readonly unknown[]) => boolean, why: Reason): Check {
  return (value, run) => !Array.isArray(value) || isAllowed(value) || run.fail(why);
}

function checkUnique(wanted: boolean): Check {
  return (value, run) => {
    if (!wanted || !Array.isArray(value)) return true;
    spendOnWhole(value, run);
    return isUnique(value) || run.fail(reason('issue_unique_items'));
  };
}

function checkSize(isAllowed: (size: number) => boolean, why: Reason): Check {
  return (value, run) => {
    if (!isRecord(value)) return true;
    const size = Object.keys(value).length;
    run.spend(size);
    return isAllowed(size) || run.fail(why);
  };
}

function checkRequired(names: readonly string[]): Check {
  return (value, run) => !isRecord(value) || hasAll(value, names, run, null);
}

function checkDependentRequired(wanted: Readonly<Record<string, readonly string[]>>): Check {
  const rules = Object.entries(wanted);
  return (value, run) => {
    if (!isRecord(value)) return true;
    run.spend(rules.length);
    let isValid = true;
    for (const [name, names] of rules) {
      if (hasMember(value, name) && !hasAll(value, names, run, name)) isValid = false;
    }
    return isValid;
  };
}

function hasAll(value: JsonObject, names: readonly string[], run: CheckRun, other: string | null): boolean {
  run.spend(names.length);
  let isValid = true;
  for (const name of names) {
    if (hasMember(value, name)) continue;
    const why =
      other === null ? reason('issue_required', { name }) : reason('issue_required_with', { name, other });
    isValid = run.fail(why);
    if (run.stopsAtFirst) break;
  }
  return isValid;
}

/** Charges the step budget for the whole value before it is serialised for comparison. */
function spendOnWhole(value: unknown, run: CheckRun): void {
  run.spend(typeof value === 'string' ? 5 + value.length / CHARS_PER_STEP : 5);
  if (typeof value !== 'object' || value === null) return;
  run.spend(20);
  if (Array.isArray(value)) {
    for (const item of value) spendOnWhole(item, run);
    return;
  }
  for (const key of Object.keys(value)) {
    run.spend(10 + key.length / CHARS_PER_STEP);
    spendOnWhole((value as JsonObject)[key], run);
  }
}
