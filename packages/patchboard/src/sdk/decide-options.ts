import { object, peerId, text } from './shape.ts';
import type { Rule } from './shape.ts';

export interface DecideOptions {
  /** Stored with the call and sent to the model. */
  readonly note?: string;
  /** Default: `operator`. */
  readonly decidedBy?: string;
}

export const DECIDE_OPTIONS: Rule = object<DecideOptions>({ note: text, decidedBy: peerId });
