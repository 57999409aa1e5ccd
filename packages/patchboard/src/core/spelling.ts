import { nearestName } from '@patchboard/wire';

/** Returns `; did you mean …?` for the end of a message; empty if none of `known` is similar. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const nearest = nearestName(given, known, () => true);
  return nearest === null ? '' : `; did you mean ${nearest}?`;
}
