import { PatchboardError } from '@patchboard/client';
import type { ReasonView } from '@patchboard/wire';
import type { JsonProblem } from './forms/args-text.ts';
import { language } from './preferences.ts';
import { i18n } from './words/index.ts';
import { codeWords, reasonWords } from './words/reasons.ts';

type Reasons = { readonly reasons?: readonly ReasonView[] | undefined };

/** A decision's reasons in the reader's language; the sentence where a record has nothing else. */
export function decisionWords({ reason, reasons }: { readonly reason: string } & Reasons): string {
  return reasonWords(language.value, reasons) ?? reason;
}

/** The same for what is wrong with an input or a reply. */
export function problemWords({ message, reasons }: { readonly message: string } & Reasons): string {
  return reasonWords(language.value, reasons) ?? message;
}

/** Why something failed. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof PatchboardError ? failureWords(error) : error.message;
}

/** Why a call or a request failed. Without reasons the code says it in the reader's language, the server the rest. */
export function failureWords(failed: { readonly code: string; readonly message: string } & Reasons): string {
  const { code, message, reasons } = failed;
  const words = reasonWords(language.value, reasons) ?? codeWords(language.value, code, message);
  if (words !== null) return words;
  const key = `failures.${code}`;
  return i18n.global.te(key) ? i18n.global.t(key, { said: message }) : message;
}

export function jsonWords({ code, line, column }: JsonProblem): string {
  const key = `json.${code}`;
  const what = i18n.global.te(key) ? i18n.global.t(key) : code;
  return i18n.global.t('json.problem', { line, column, what });
}
