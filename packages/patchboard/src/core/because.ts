import { reasonsText, type ReasonView } from '@patchboard/wire';

/** Why something was decided: the sentence, and what it was made from. */
export interface Because {
  readonly reason: string;
  /** Absent: the record is of a version that kept the sentence only, or the words are those of another. */
  readonly reasons?: readonly ReasonView[];
}

export function because(...reasons: readonly ReasonView[]): Required<Because> {
  return { reason: reasonsText(reasons), reasons };
}

/** Words of others, which have no code of ours. */
export function inWordsOf(text: string): Required<Because> {
  return { reason: text, reasons: [{ code: 'text', params: { text } }] };
}

/** The reasons to show beside others; words of others where only a sentence is known. */
export function reasonsOf({ reason, reasons }: Because): readonly ReasonView[] {
  return reasons ?? inWordsOf(reason).reasons;
}
