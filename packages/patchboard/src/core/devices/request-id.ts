import { attemptsOf, type Call } from '../call/call.ts';

/** Fencing token of the current attempt: a result of an earlier attempt is rejected. */
export function attemptToken(call: Call): string {
  return `${Math.max(1, attemptsOf(call))}.${call.fence ?? ''}`;
}

/** Identifies one attempt of a call to a device. Unguessable, because it contains the fence. */
export function requestId(call: Call): string {
  return `${call.id}:${attemptToken(call)}`;
}

export interface ParsedRequestId {
  readonly callId: string;
  readonly attemptToken: string;
}

/** Returns null if the text is not a request id. */
export function parseRequestId(id: string): ParsedRequestId | null {
  const match = /^(tc_[^:]{1,100}):(\d{1,9}\.[\w-]{1,100})$/.exec(id);
  const [, callId, token] = match ?? [];
  return callId === undefined || token === undefined ? null : { callId, attemptToken: token };
}
