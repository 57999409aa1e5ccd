/** Joins two strings to one key. The length prefix makes it unambiguous. */
export function pairKey(first: string, second: string): string {
  return `${first.length} ${first} ${second}`;
}
