import type { KeywordDefinition } from 'ajv';
import { canonicalJson } from '../core/json/canonical-json.ts';

/** Replaces Ajv's keyword, which compares every pair: minutes for a list of some ten thousand objects. */
export const uniqueItems: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must not have two equal items' },
  validate: (wanted: boolean, items: unknown[]) => !wanted || isUnique(items),
};

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
