import { PatchboardError } from '@patchboard/client';
import type { PolicyWarningView, ReasonView } from '@patchboard/wire';
import type { JsonProblem } from './forms/args-text.ts';
import { language } from './preferences.ts';
import { i18n } from './words/index.ts';
import { codeWords, reasonWords } from './words/reasons.ts';

type Reasons = { readonly reasons?: readonly ReasonView[] | undefined };

/** Returns a decision's reasons in the user's language, or the server's sentence if the record has no coded reasons. */
export function decisionWords({ reason, reasons }: { readonly reason: string } & Reasons): string {
  return reasonWords(language.value, reasons) ?? reason;
}

/** Returns the text of one problem: in an input, a model's reply or a failed call. */
export function problemWords({ message, reasons }: { readonly message: string } & Reasons): string {
  return reasonWords(language.value, reasons) ?? message;
}

/** Returns the text of a coded reason of this page's own packages, which every language has. */
export function reasonOf(reason: ReasonView): string {
  return reasonWords(language.value, [reason]) ?? reason.code;
}

/** Returns the text of a policy warning, or the server's sentence if the code is unknown here. */
export function warningWords({ code, params, message }: PolicyWarningView): string {
  return reasonWords(language.value, [{ code, params }]) ?? message;
}

/** Returns the text of a caught error. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof PatchboardError ? failureWords(error) : error.message;
}

/** Returns what a failure code means; the code itself if it is unknown here. */
export function failureMeaning(code: string): string {
  return reasonWords(language.value, [{ code, params: {} }]) ?? code;
}

/** Returns the text of a failed call or request: from coded reasons, else from the code, else the server's message. */
export function failureWords(failed: { readonly code: string; readonly message: string } & Reasons): string {
  const { code, message, reasons } = failed;
  const words = reasonWords(language.value, reasons) ?? codeWords(language.value, code, message);
  if (words !== null) return words;
  const key = `failures.${code}`;
  return i18n.global.te(key) ? i18n.global.t(key, { message }) : message;
}

export function jsonWords({ code, line, column }: JsonProblem): string {
  const key = `json.${code}`;
  const what = i18n.global.te(key) ? i18n.global.t(key) : code;
  return i18n.global.t('json.problem', { line, column, what });
}
