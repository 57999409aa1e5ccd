import { nearestName } from '@patchboard/wire';

/** Returns `; did you mean …?` for the end of a message; empty if none of `known` is similar. */
export function didYouMean(
  given: string,
  known: Iterable<string>,
  mayBeNamed: (name: string) => boolean = () => true,
): string {
  const nearest = nearestName(given, known, mayBeNamed);
  return nearest === null ? '' : `; did you mean ${nearest}?`;
}
