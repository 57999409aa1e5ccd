import { reasonsText, type ReasonView } from '@patchboard/wire';

/** Why something was decided: a sentence, and the coded reasons that the sentence was built from. */
export interface Explanation {
  readonly reason: string;
  /** Absent in records of versions that stored only the sentence, and for text from a tool, a client or a library. */
  readonly reasons?: readonly ReasonView[];
}

export function explain(...reasons: readonly ReasonView[]): Required<Explanation> {
  return { reason: reasonsText(reasons), reasons };
}

/** Explains with text that has no reason code: from an operator's policy, a tool, a client or a library. */
export function freeText(text: string): Required<Explanation> {
  return { reason: text, reasons: [{ code: 'text', params: { text } }] };
}

/** The coded reasons; the sentence as a reason `text` where only that is known. */
export function reasonsOf({ reason, reasons }: Explanation): readonly ReasonView[] {
  return reasons ?? freeText(reason).reasons;
}
