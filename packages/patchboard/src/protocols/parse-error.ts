import { reasonText, type Reason } from '@patchboard/wire';
import type { ParseError, ParseErrorCode } from './protocol.ts';

/** A problem of a reply at `offset`, with the English sentence of its reason for the model. */
export function parseError(code: ParseErrorCode, offset: number, why: Reason): ParseError {
  return { code, message: reasonText(why), reasons: [why], offset };
}
