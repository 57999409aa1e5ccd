/** Appends one reference token to a JSON pointer (RFC 6901). */
export function pointerTo(parent: string, key: string | number): string {
  // Fast path: almost no key needs escaping, and this runs for every key of a schema.
  const isPlain = typeof key === 'number' || !/[~/]/.test(key);
  return `${parent}/${isPlain ? key : key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The unescaped reference tokens of a pointer. */
export function pointerParts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Decodes a URI fragment. A fragment with an invalid escape is returned unchanged. */
export function fragmentText(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Returns the value at the pointer; undefined if there is none. Inherited members are ignored. */
export function valueAt(value: unknown, pointer: string): unknown {
  let here = value;
  for (const key of pointerParts(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}
