import type { FailureCode } from '@patchboard/wire';
import {
  failure as codedFailure,
  foreignText,
  type CodedReason,
  type Failure,
  type FailureExtra,
} from '../core/failures.ts';

/** Why something failed: one reason, several, or a text of the tool's own. */
export type FailureReason = string | CodedReason;

/** For tools. `why` defaults to the general meaning of `code`. */
export function failure(code: FailureCode, why?: FailureReason, extra?: FailureExtra): Failure {
  return codedFailure(code, typeof why === 'string' ? foreignText(why) : why, extra);
}
