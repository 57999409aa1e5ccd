import { placeInChinese } from './chinese-query.ts';
import { placeInEnglish } from './english-query.ts';

/** The meaning of a free-text question about the weather. */
export type WeatherQuestion =
  | { readonly kind: 'place'; readonly place: string; readonly language: 'en' | 'zh' }
  /** The question is about another day; the tool knows only the current weather. */
  | { readonly kind: 'other-time'; readonly words: string }
  | { readonly kind: 'no-place' };

const MAX_PLACE_LENGTH = 100;

/** Extracts the place from a question in English or Chinese, or from a bare place name. */
export function placeInQuery(query: string): WeatherQuestion {
  const text = query.normalize('NFKC').replace(/[’‘`]/g, "'").replace(/\s+/g, ' ').trim();
  const chinese = /\p{Script=Han}/u.test(text);
  const found = chinese ? placeInChinese(text) : placeInEnglish(text);
  if ('words' in found) return { kind: 'other-time', words: found.words };
  const usable = /[\p{L}]/u.test(found.place) && found.place.length <= MAX_PLACE_LENGTH;
  if (!usable) return { kind: 'no-place' };
  return { kind: 'place', place: found.place, language: chinese ? 'zh' : 'en' };
}
