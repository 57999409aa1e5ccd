/** Two texts as one key. The length keeps pairs apart whatever the texts hold. */
export function pairKey(first: string, second: string): string {
  return `${first.length} ${first} ${second}`;
}
