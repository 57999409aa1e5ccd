/** Maps the ids in a document to the real ids of a run. */
export type Bindings = Map<string, string>;

/** Ids, and digests of what an operator is shown. */
const ID = /^((tc|run|key|gr)_[0-9a-z]{26}|(v2:)?[0-9a-f]{64})$/;
const TIME = /^\d{4}-\d\d-\d\dT/;

/**
 * Returns the first difference as one line; null if there is none. `…` matches anything. In JSON every member
 * that the document shows must be there and be equal, except that ids are bound to the real ones and times
 * may be any.
 */
export function misfit(language: string, expected: string, actual: string, ids: Bindings): string | null {
  return language === 'json'
    ? misfitJson(JSON.parse(expected), parse(actual), ids, '')
    : misfitText(expected, actual, ids);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function misfitText(expected: string, actual: string, ids: Bindings): string | null {
  const [shown, real] = [expected.trim(), actual.trim()];
  if (ID.test(shown) && ID.test(real) && !ids.has(shown)) ids.set(shown, real);
  const pattern = withIds(shown, ids)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[\\s\\S]*?');
  return new RegExp(`^${pattern}$`).test(real) ? null : `expected\n${expected}\nbut got\n${actual}`;
}

function misfitJson(expected: unknown, actual: unknown, ids: Bindings, path: string): string | null {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length)
      return `${path}: expected ${expected.length} items but got ${JSON.stringify(actual)}`;
    return firstOf(expected.map((item, at) => misfitJson(item, actual[at], ids, `${path}/${at}`)));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return `${path}: got ${JSON.stringify(actual)}`;
    const found = actual as Readonly<Record<string, unknown>>;
    return firstOf(
      Object.entries(expected).map(([key, value]) => misfitJson(value, found[key], ids, `${path}/${key}`)),
    );
  }
  return fits(expected, actual, ids, path)
    ? null
    : `${path}: expected ${JSON.stringify(expected)} but got ${JSON.stringify(actual)}`;
}

function fits(expected: unknown, actual: unknown, ids: Bindings, path: string): boolean {
  if (/_(at|ms)$/.test(path)) return typeof actual === typeof expected;
  if (typeof expected !== 'string' || typeof actual !== 'string') return Object.is(expected, actual);
  if (TIME.test(expected)) return TIME.test(actual);
  return misfitText(expected, actual, ids) === null;
}

/** The text with the ids of the document replaced by the real ones. */
export function withIds(text: string, ids: Bindings): string {
  let result = text;
  for (const [shown, real] of ids) result = result.replaceAll(shown, real);
  return result;
}

function firstOf(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}
