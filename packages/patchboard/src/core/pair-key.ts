/** Joins two strings to one key. The length prefix makes it unambiguous. */
export function pairKey(first: string, second: string): string {
  return `${first.length} ${first} ${second}`;
}

/** Returns the strings of a key that `pairKey` has made; null for any other text. */
export function pairOf(key: string): readonly [first: string, second: string] | null {
  const [length = ''] = key.split(' ', 1);
  const end = length.length + 1 + Number(length);
  if (!/^\d{1,9}$/.test(length) || key[end] !== ' ') return null;
  return [key.slice(length.length + 1, end), key.slice(end + 1)];
}
