/** Serialises a value with sorted object keys and no white space: the form in which values are hashed. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'null';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  // A null prototype: a key such as "__proto__" must stay an ordinary key.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of entries) copy[key] = sorted(member);
  return copy;
}
