import { PatchboardError } from '@patchboard/client';
import type { JsonProblem } from './forms/args-text.ts';
import { sentencesOf } from './said-sentences.ts';
import { i18n } from './words/index.ts';

/** A decision's reasons or what is wrong with a reply: in the reader's words where we have them, else as it was said. */
export function inWords(said: string): string {
  return sentencesOf(said)
    .map((one) => (typeof one === 'string' ? one : i18n.global.t(`said.${one[0]}`, one[1])))
    .join('; ');
}

/** Why something failed. The code says it in the reader's language, the server the rest. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof PatchboardError ? failureWords(error.code, error.message) : error.message;
}

/** The same of the failure of a call. A newer server may have codes that we do not know. */
export function failureWords(code: string, said: string): string {
  const key = `failures.${code}`;
  return i18n.global.te(key) ? i18n.global.t(key, { said }) : said;
}

export function jsonWords({ code, line, column }: JsonProblem): string {
  const key = `json.${code}`;
  const what = i18n.global.te(key) ? i18n.global.t(key) : code;
  return i18n.global.t('json.problem', { line, column, what });
}
