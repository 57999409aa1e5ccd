/** One more step of a JSON pointer (RFC 6901). */
export function pointerTo(parent: string, key: string | number): string {
  // Nearly no key needs it, and every one of a schema passes here.
  const isPlain = typeof key === 'number' || !/[~/]/.test(key);
  return `${parent}/${isPlain ? key : key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The keys that a pointer goes by. */
export function pointerParts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** As a URI has it behind its `#`. What is no good escape is taken as it is written. */
export function fragmentText(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Undefined when there is nothing at that place; what an object inherits is nothing. */
export function valueAt(value: unknown, pointer: string): unknown {
  let here = value;
  for (const key of pointerParts(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}
