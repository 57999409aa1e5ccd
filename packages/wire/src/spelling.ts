/** Maximum edit distance of a suggestion. */
const MAX_DISTANCE = 3;
/** Number of names that are compared: bounds the time that a misspelt request costs. */
const MAX_NAMES = 1000;

/**
 * Returns the most similar name, ignoring case; null if none is similar enough. `mayBeNamed`: whether it may be
 * suggested.
 */
export function nearestName(
  given: string,
  known: Iterable<string>,
  mayBeNamed: (name: string) => boolean = () => true,
): string | null {
  const wanted = given.toLowerCase();
  let nearest: string | null = null;
  let least = MAX_DISTANCE + 1;
  let compared = 0;
  for (const name of known) {
    if (compared === MAX_NAMES) break;
    compared += 1;
    const max = Math.min(least - 1, Math.floor(name.length / 2));
    const distance = editDistance(wanted, name.toLowerCase(), max);
    if (distance > max || !mayBeNamed(name)) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

/** Levenshtein distance; Infinity if it exceeds `max`. Computes only the band of width `max` around the diagonal. */
function editDistance(one: string, other: string, max: number): number {
  if (max < 0 || Math.abs(one.length - other.length) > max) return Infinity;
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  let here = [...above];
  for (let row = 1; row <= one.length; row += 1) {
    const first = Math.max(1, row - max);
    const last = Math.min(other.length, row + max);
    here[first - 1] = first === 1 ? row : Infinity;
    if (last === row + max) above[last] = Infinity;
    let best = here[first - 1] ?? Infinity;
    for (let column = first; column <= last; column += 1) {
      const substitution = one.charCodeAt(row - 1) === other.charCodeAt(column - 1) ? 0 : 1;
      const distance = Math.min(
        (above[column - 1] ?? Infinity) + substitution,
        (above[column] ?? Infinity) + 1,
        (here[column - 1] ?? Infinity) + 1,
      );
      here[column] = distance;
      best = Math.min(best, distance);
    }
    if (best > max) return Infinity;
    [above, here] = [here, above];
  }
  const distance = above[other.length] ?? Infinity;
  return distance > max ? Infinity : distance;
}
