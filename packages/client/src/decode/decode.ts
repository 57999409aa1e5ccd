/** Returns the value as its type, or throws `Undecodable`, which is never thrown to callers of this package. */
export type Decoder<T> = (value: unknown, path: string) => T;

export class Undecodable extends Error {}

type Fields<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? Decoder<T[K] | undefined>
    : Decoder<T[K]>;
};

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const anything: Decoder<unknown> = (value) => value;
export const string: Decoder<string> = (value, path) =>
  typeof value === 'string' ? value : mismatch(path, 'a string');
export const number: Decoder<number> = (value, path) =>
  typeof value === 'number' ? value : mismatch(path, 'a number');
export const boolean: Decoder<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : mismatch(path, 'a boolean');
export const record: Decoder<Readonly<Record<string, unknown>>> = (value, path) =>
  isRecord(value) ? value : mismatch(path, 'an object');

/** A string enum that may grow: unknown values of a newer server are accepted. */
export function word<T extends string>(): Decoder<T> {
  return (value, path) => string(value, path) as T;
}

export function check<T>(test: (value: unknown) => value is T, wanted: string): Decoder<T> {
  return (value, path) => (test(value) ? value : mismatch(path, wanted));
}

/** Treats a missing field as null, because an older server may not send it. */
export function nullable<T>(inner: Decoder<T>): Decoder<T | null> {
  return (value, path) => (value === undefined || value === null ? null : inner(value, path));
}

export function optional<T>(inner: Decoder<T>): Decoder<T | undefined> {
  return (value, path) => (value === undefined ? undefined : inner(value, path));
}

/** Uses `missing` for a field that an older server does not send. */
export function withDefault<T>(inner: Decoder<T>, missing: T): Decoder<T> {
  return (value, path) => (value === undefined ? missing : inner(value, path));
}

export function listOf<T>(inner: Decoder<T>): Decoder<readonly T[]> {
  return (value, path) => {
    if (value === undefined) return [];
    if (!Array.isArray(value)) return mismatch(path, 'a list');
    return value.map((item: unknown, index) => inner(item, `${path}[${index}]`));
  };
}

/** Checks every field of `T` and keeps unknown fields. */
export function object<T extends object>(fields: Fields<T>): Decoder<T> {
  const entries = Object.entries(fields) as [string, Decoder<unknown>][];
  return (value, path) => {
    const decoded: Record<string, unknown> = { ...record(value, path) };
    for (const [name, decode] of entries) {
      const field = decode(decoded[name], path === '' ? name : `${path}.${name}`);
      if (field !== undefined) decoded[name] = field;
    }
    return decoded as T;
  };
}

function mismatch(path: string, wanted: string): never {
  throw new Undecodable(`${path === '' ? 'the body' : `"${path}"`} is not ${wanted}`);
}
