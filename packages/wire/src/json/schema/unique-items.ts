import { canonicalJson } from '../canonical-json.ts';

/** Compares the items by their text, in linear time: a comparison of every pair takes minutes for a long list of objects. */
export function isUnique(items: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const item of items) {
    // Strings get a prefix, so that they never equal the serialised form of an object.
    const key =
      typeof item === 'object' && item !== null
        ? canonicalJson(item)
        : typeof item === 'string'
          ? `"${item}`
          : item;
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}
