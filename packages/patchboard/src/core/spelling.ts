/** A name with more mistakes in it than that was not meant. */
const MOST_CHANGES = 3;
/** Of so many names at most the nearest is looked for: whoever asks for nonsense does not keep the thread busy. */
const MOST_NAMES = 1000;

/** `; did you mean …?`, to end a message with; empty where none of `known` is near. */
export function didYouMean(
  given: string,
  known: Iterable<string>,
  mayBeNamed: (name: string) => boolean = () => true,
): string {
  const meant = nearestName(given, known, mayBeNamed);
  return meant === null ? '' : `; did you mean ${meant}?`;
}

/** The one that was probably meant, whatever its case; null: none is near enough. */
export function nearestName(
  given: string,
  known: Iterable<string>,
  mayBeNamed: (name: string) => boolean = () => true,
): string | null {
  const wanted = given.toLowerCase();
  let nearest: string | null = null;
  let least = MOST_CHANGES + 1;
  let looked = 0;
  for (const name of known) {
    if (looked === MOST_NAMES) break;
    looked += 1;
    const most = Math.min(least - 1, Math.floor(name.length / 2));
    const changes = changesBetween(wanted, name.toLowerCase(), most);
    if (changes > most || !mayBeNamed(name)) continue;
    nearest = name;
    least = changes;
  }
  return nearest;
}

/** Characters to add, leave out or replace; Infinity: more than `most`. Cells farther off the diagonal are not looked at. */
function changesBetween(one: string, other: string, most: number): number {
  if (most < 0 || Math.abs(one.length - other.length) > most) return Infinity;
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  let here = [...above];
  for (let row = 1; row <= one.length; row += 1) {
    const first = Math.max(1, row - most);
    const last = Math.min(other.length, row + most);
    here[first - 1] = first === 1 ? row : Infinity;
    if (last === row + most) above[last] = Infinity;
    let best = here[first - 1] ?? Infinity;
    for (let column = first; column <= last; column += 1) {
      const kept = one.charCodeAt(row - 1) === other.charCodeAt(column - 1) ? 0 : 1;
      const changes = Math.min(
        (above[column - 1] ?? Infinity) + kept,
        (above[column] ?? Infinity) + 1,
        (here[column - 1] ?? Infinity) + 1,
      );
      here[column] = changes;
      best = Math.min(best, changes);
    }
    if (best > most) return Infinity;
    [above, here] = [here, above];
  }
  const changes = above[other.length] ?? Infinity;
  return changes > most ? Infinity : changes;
}
