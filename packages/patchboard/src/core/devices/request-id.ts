import { attemptsOf, type Call } from '../call/call.ts';

/** Bound to the attempt: a result of an earlier one cannot pass for this one's. */
export function attemptToken(call: Call): string {
  return `${Math.max(1, attemptsOf(call))}.${call.fence ?? ''}`;
}

/** How a device knows one attempt of a call. Nobody who was not sent it can make it up. */
export function requestId(call: Call): string {
  return `${call.id}:${attemptToken(call)}`;
}

export interface ParsedRequestId {
  readonly callId: string;
  readonly attemptToken: string;
}

/** Null: it never was one. */
export function parseRequestId(id: string): ParsedRequestId | null {
  const match = /^(tc_[^:]{1,100}):(\d{1,9}\.[\w-]{1,100})$/.exec(id);
  const [, callId, token] = match ?? [];
  return callId === undefined || token === undefined ? null : { callId, attemptToken: token };
}
