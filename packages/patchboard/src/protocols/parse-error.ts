import { reasonText, type Reason } from '@patchboard/wire';
import type { ParseError, ParseErrorCode } from './protocol.ts';

/** A parse error at `offset`, with the English sentence of its reason. */
export function parseError(code: ParseErrorCode, offset: number, why: Reason): ParseError {
  return { code, message: reasonText(why), reasons: [why], offset };
}
