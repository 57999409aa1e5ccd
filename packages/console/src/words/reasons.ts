import { ENGLISH, isFailureCode, textIn, type ReasonSentences, type ReasonView } from '@patchboard/wire';
import { dayAndTime } from '../format.ts';
import { reasonWords as chinese } from './zh/reasons.ts';

interface ReasonLanguage {
  readonly sentences: ReasonSentences;
  /** Between two sentences. */
  readonly separator: string;
  /** The meaning of a failure code beside words that have no code, which may be in another language. */
  readonly beside: (meaning: string, words: string) => string;
}

/** Another language is one more table here. */
export const REASON_LANGUAGES = {
  en: { sentences: ENGLISH, separator: '; ', beside: (_meaning, words) => words },
  zh: { sentences: chinese, separator: '；', beside: (meaning, words) => `${meaning}：${words}` },
} as const satisfies Readonly<Record<string, ReasonLanguage>>;

/** The parameter of a reason that is a time, RFC 3339 in UTC. */
const TIMES: ReadonlyMap<string, string> = new Map([
  ['contract_changed', 'since'],
  ['key_outlives_maker', 'at'],
]);

/** Writes the time of a reason as the console shows times, in the time zone of the user. */
function withLocalTime(language: string, reason: ReasonView): ReasonView {
  const name = TIMES.get(reason.code);
  const at = name === undefined ? undefined : reason.params[name];
  if (name === undefined || typeof at !== 'string' || Number.isNaN(Date.parse(at))) return reason;
  return { ...reason, params: { ...reason.params, [name]: dayAndTime(at, language) } };
}

/** The reasons in a language; null where there are none, or one that only a newer server knows. */
export function reasonWords(
  language: keyof typeof REASON_LANGUAGES,
  reasons: readonly ReasonView[] | undefined,
): string | null {
  if (reasons === undefined || reasons.length === 0) return null;
  const { sentences, separator } = REASON_LANGUAGES[language];
  const shown = reasons.map((reason) => withLocalTime(language, reason));
  return textIn(sentences, separator, shown);
}

/** A failure that has no reasons: the meaning of its code, and the words it came with; null for a code that is unknown here. */
export function codeWords(
  language: keyof typeof REASON_LANGUAGES,
  code: string,
  words: string,
): string | null {
  const { sentences, separator, beside } = REASON_LANGUAGES[language];
  const meaning = isFailureCode(code) ? textIn(sentences, separator, [{ code, params: {} }]) : null;
  return meaning === null ? null : beside(meaning, words);
}
