import type { FoundPlace, OpenMeteo } from './open-meteo.ts';
import { regionNames } from './region-names.ts';

interface Candidate {
  readonly name: string;
  /** The country or region of the place. */
  readonly within: string | null;
}

/** Searches for a place under each possible reading of its text. Resolves to undefined if none has a hit. */
export async function findPlace(
  service: OpenMeteo,
  query: { readonly place: string; readonly language: string },
  signal: AbortSignal,
): Promise<FoundPlace | undefined> {
  for (const candidate of candidatesFor(query.place)) {
    const hits = await service.search(candidate.name, query.language, signal);
    const hit = hits.find((place) => candidate.within === null || liesIn(place, candidate.within));
    if (hit !== undefined) return hit;
  }
  return undefined;
}

/** The service searches by name only, not by "city, country", so the qualifier is compared with the hits. */
function candidatesFor(place: string): readonly Candidate[] {
  const [name = '', ...qualifiers] = place.split(/\s*[,，]\s*/).filter((part) => part !== '');
  const within = qualifiers.at(-1) ?? null;
  if (within !== null) return [{ name, within }];
  const whole = [{ name, within: null }];
  const shorter = /^(\p{Script=Han}{2,})[市省县区州]$/u.exec(name)?.[1];
  if (shorter !== undefined) return [...whole, { name: shorter, within: null }];
  const words = name.split(' ');
  const last = words.at(-1);
  if (words.length < 2 || last === undefined) return whole;
  return [...whole, { name: words.slice(0, -1).join(' '), within: last }]; // "Paris France"
}

function liesIn(place: FoundPlace, within: string): boolean {
  const names = [place.country, place.countryCode, ...place.regions].map((name) => name?.toLowerCase());
  return regionNames(within).some((wanted) => names.includes(wanted.toLowerCase()));
}
