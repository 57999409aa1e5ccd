import { canonicalJson } from '../core/json/canonical-json.ts';
import { isRecord } from '../core/json/is-record.ts';
import type { Check, CheckRun } from './check-run.ts';
import { FORMATS, type FormatCheck } from './formats.ts';
import { listed } from './issues.ts';
import type { JsonObject } from './keywords.ts';
import { isUnique } from './unique-items.ts';

/** Some checks scan a string; ten characters take less than the time of one step. */
const CHARS_PER_STEP = 10;

/** Builds the checks of keywords that contain no schemas. The keyword values have been validated before. */
export const SCALAR_CHECKS: ReadonlyMap<string, (wanted: never, schema: JsonObject) => Check> = new Map<
  string,
  (wanted: never, schema: JsonObject) => Check
>([
  ['type', checkType],
  ['enum', (values: readonly unknown[]) => checkValues(values, `must be one of ${listed(values)}`)],
  ['const', (value: unknown) => checkValues([value], `must be ${listed([value])}`)],
  ['minimum', (limit: number) => checkNumber((value) => value >= limit, `must be >= ${limit}`)],
  ['maximum', (limit: number) => checkNumber((value) => value <= limit, `must be <= ${limit}`)],
  ['exclusiveMinimum', (limit: number) => checkNumber((value) => value > limit, `must be > ${limit}`)],
  ['exclusiveMaximum', (limit: number) => checkNumber((value) => value < limit, `must be < ${limit}`)],
  [
    'multipleOf',
    (unit: number) => checkNumber((value) => isMultiple(value, unit), `must be multiple of ${unit}`),
  ],
  [
    'minLength',
    (limit: number) =>
      checkLength((length) => length >= limit, `must not have fewer than ${limit} characters`),
  ],
  [
    'maxLength',
    (limit: number) =>
      checkLength((length) => length <= limit, `must not have more than ${limit} characters`),
  ],
  ['format', checkFormat],
  [
    'minItems',
    (limit: number) =>
      checkItems((items) => items.length >= limit, `must not have fewer than ${limit} items`),
  ],
  [
    'maxItems',
    (limit: number) => checkItems((items) => items.length <= limit, `must not have more than ${limit} items`),
  ],
  ['uniqueItems', checkUnique],
  [
    'minProperties',
    (limit: number) => checkSize((size) => size >= limit, `must not have fewer than ${limit} properties`),
  ],
  [
    'maxProperties',
    (limit: number) => checkSize((size) => size <= limit, `must not have more than ${limit} properties`),
  ],
  ['required', checkRequired],
  ['dependentRequired', checkDependentRequired],
]);

function checkType(wanted: string | readonly string[]): Check {
  const types = new Set(typeof wanted === 'string' ? [wanted] : wanted);
  const message = `must be ${[...types].join(' or ')}`;
  return (value, run) => {
    const type = typeOf(value);
    if (types.has(type)) return true;
    if (type === 'number' && types.has('integer') && Number.isInteger(value)) return true;
    return run.fail(message);
  };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function checkValues(allowed: readonly unknown[], message: string): Check {
  const scalars = new Set(allowed.filter((value) => typeof value !== 'object' || value === null));
  const texts = new Set(
    allowed.filter((value) => typeof value === 'object' && value !== null).map(canonicalJson),
  );
  return (value, run) => {
    if (typeof value !== 'object' || value === null) return scalars.has(value) || run.fail(message);
    if (texts.size === 0) return run.fail(message);
    spendOnWhole(value, run);
    return texts.has(canonicalJson(value)) || run.fail(message);
  };
}

function checkNumber(isAllowed: (value: number) => boolean, message: string): Check {
  return (value, run) => typeof value !== 'number' || isAllowed(value) || run.fail(message);
}

function isMultiple(value: number, unit: number): boolean {
  return Number.isInteger(value / unit);
}

function checkLength(isAllowed: (length: number) => boolean, message: string): Check {
  return (value, run) => {
    if (typeof value !== 'string') return true;
    run.spend(value.length / CHARS_PER_STEP);
    return isAllowed(characters(value)) || run.fail(message);
  };
}

/** Counts code points: a surrogate pair is one character. */
function characters(text: string): number {
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
  const message = `must match format ${JSON.stringify(name)}`;
  return (value, run) => {
    if (format === undefined || typeof value !== format.type) return true;
    if (typeof value === 'string') run.spend(40 + value.length / CHARS_PER_STEP);
    return format.validate(value as never) || run.fail(message);
  };
}

function checkItems(isAllowed: (items: readonly unknown[]) => boolean, message: string): Check {
  return (value, run) => !Array.isArray(value) || isAllowed(value) || run.fail(message);
}

function checkUnique(wanted: boolean): Check {
  return (value, run) => {
    if (!wanted || !Array.isArray(value)) return true;
    spendOnWhole(value, run);
    return isUnique(value) || run.fail('must not have two equal items');
  };
}

function checkSize(isAllowed: (size: number) => boolean, message: string): Check {
  return (value, run) => {
    if (!isRecord(value)) return true;
    const size = Object.keys(value).length;
    run.spend(size);
    return isAllowed(size) || run.fail(message);
  };
}

function checkRequired(names: readonly string[]): Check {
  return (value, run) => !isRecord(value) || hasAll(value, names, run, '');
}

function checkDependentRequired(wanted: Readonly<Record<string, readonly string[]>>): Check {
  const rules = Object.entries(wanted);
  return (value, run) => {
    if (!isRecord(value)) return true;
    run.spend(rules.length);
    let isValid = true;
    for (const [name, names] of rules) {
      if (Object.hasOwn(value, name) && !hasAll(value, names, run, ` when it has '${name}'`)) isValid = false;
    }
    return isValid;
  };
}

function hasAll(value: JsonObject, names: readonly string[], run: CheckRun, when: string): boolean {
  run.spend(names.length);
  let isValid = true;
  for (const name of names) {
    if (Object.hasOwn(value, name)) continue;
    isValid = run.fail(`must have required property '${name}'${when}`);
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
