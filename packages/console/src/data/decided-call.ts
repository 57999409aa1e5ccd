import type { Decision } from '@patchboard/client';

/** A call that was decided in this browser. */
export interface DecidedCall {
  readonly id: string;
  readonly tool: string;
  readonly decision: Decision['decision'];
}
