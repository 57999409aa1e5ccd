import { ENGLISH, textIn, type ReasonSentences, type ReasonView } from '@patchboard/wire';
import { reasonWords as chinese } from './zh/reasons.ts';

interface ReasonLanguage {
  readonly sentences: ReasonSentences;
  /** Between two sentences. */
  readonly separator: string;
}

/** Another language is one more table here. */
export const REASON_LANGUAGES = {
  en: { sentences: ENGLISH, separator: '; ' },
  zh: { sentences: chinese, separator: '；' },
} as const satisfies Readonly<Record<string, ReasonLanguage>>;

/** The reasons in a language; null where there are none, or one that only a newer server knows. */
export function reasonWords(
  language: keyof typeof REASON_LANGUAGES,
  reasons: readonly ReasonView[] | undefined,
): string | null {
  if (reasons === undefined || reasons.length === 0) return null;
  const { sentences, separator } = REASON_LANGUAGES[language];
  return textIn(sentences, separator, reasons);
}
