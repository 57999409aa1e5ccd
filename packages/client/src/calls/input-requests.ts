import type { CallView, InputRequestView, InputResponseBody } from '@patchboard/wire';
import { abortReason, followAll, onAbort, type Bounds } from '../http/abort.ts';
import type { RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { changeCall } from './change-call.ts';

/** The value that an `onInputRequest` returns to decline the request. The `DECLINE_INPUT` of `patchboard` is the same. */
export const DECLINE_INPUT: unique symbol = Symbol.for('patchboard.decline-input');

/** The value that an `onInputRequest` returns if it has responded itself, with `respondInput`. */
export const INPUT_RESPONDED: unique symbol = Symbol('input responded');

export interface InputRequestContext {
  readonly toolCallId: string;
  /** Aborts when no response is needed any more: the call has ended, the request is over, or the wait was aborted. */
  readonly signal: AbortSignal;
}

/**
 * Called when the tool needs input from its caller. Returns the content, which must fit the schema of the request, or
 * `DECLINE_INPUT`, or `INPUT_RESPONDED`; for a link (`url`), it returns anything once the user has visited it. If it throws, the wait rejects
 * with that error, and the request stays open until it expires: a later `wait` gets it again.
 */
export type OnInputRequest = (request: InputRequestView, context: InputRequestContext) => unknown;

/** Safe to retry: a response is taken once, and a lost one is looked up in the record. */
export async function respondInput(
  settings: Settings,
  id: string,
  response: InputResponseBody,
  options: RequestOptions,
): Promise<CallView> {
  const { action = 'accept', content } = response;
  const isDone = ({ inputs = [] }: CallView): boolean =>
    inputs.some((round) => round.id === response.id && round.action === action);
  const body = { id: response.id, action, ...(content === undefined ? {} : { content }) };
  return changeCall(settings, { id, path: 'input', body, isDone }, options);
}

/** Converts what a handler returned to the response to a request. */
export function responseOf({ id, url }: InputRequestView, returned: unknown): InputResponseBody {
  if (returned === DECLINE_INPUT) return { id, action: 'decline' };
  return url === undefined ? { id, action: 'accept', content: returned ?? null } : { id, action: 'accept' };
}

/** What happened first: the handler returned, or the request is over without it. */
export type Handled = { readonly returned: unknown } | 'over';

/** Runs the handler until it returns, `isOver` resolves or the caller aborts. */
export async function handleRequest(
  handler: OnInputRequest,
  asked: { readonly toolCallId: string; readonly request: InputRequestView },
  bounds: Bounds,
  isOver: (signal: AbortSignal) => Promise<void>,
): Promise<Handled> {
  const stop = new AbortController();
  const { signal, dispose } = followAll([bounds.signal, stop.signal]);
  let detach = (): void => undefined;
  try {
    return await new Promise<Handled>((resolve, reject) => {
      detach = onAbort(bounds.signal, () => reject(abortReason(signal) as Error));
      isOver(signal).then(() => resolve('over'), reject);
      runHandler(handler, asked, signal).then((returned) => resolve({ returned }), reject);
    });
  } finally {
    stop.abort();
    detach();
    dispose();
  }
}

async function runHandler(
  handler: OnInputRequest,
  { toolCallId, request }: { readonly toolCallId: string; readonly request: InputRequestView },
  signal: AbortSignal,
): Promise<unknown> {
  return await handler(request, { toolCallId, signal });
}
