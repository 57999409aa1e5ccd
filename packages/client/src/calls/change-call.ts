import type { CallView } from '@patchboard/wire';
import { callPath, get } from './call-record.ts';
import { decodeCall } from '../decode/views.ts';
import { NetworkError, PatchboardError } from '../errors.ts';
import { boundsOf, requestOnce, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { retrier } from '../http/retry.ts';

/** A change that a call accepts only once: a cancel or a decision. */
export interface CallChange {
  readonly id: string;
  /** Relative to the path of the call. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the call is in the state that this change leads to. */
  isDone(call: CallView): boolean;
}

/** Safe to retry: if an earlier request succeeded and its response was lost, returns the current record. */
export async function changeCall(
  settings: Settings,
  change: CallChange,
  options: RequestOptions,
): Promise<CallView> {
  const bounds = boundsOf(options);
  const path = `${callPath(change.id)}/${change.path}`;
  const what: HttpRequest = { method: 'POST', path, body: change.body, repeat: 'safe' };
  const retry = retrier(settings, bounds, 'brief');
  let mayHaveArrived = false;
  for (;;) {
    try {
      return await requestOnce(settings, what, decodeCall, bounds);
    } catch (error) {
      if (mayHaveArrived && error instanceof PatchboardError && error.code === 'conflict') {
        const call = await get(settings, change.id, options);
        if (change.isDone(call)) return call;
      }
      await retry.pause(error, what.repeat);
      mayHaveArrived ||= isLost(error);
    }
  }
}

/** Whether no response of the server arrived: it may have applied the change, also behind a gateway that gave up. */
function isLost(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof PatchboardError && error.kind === 'bad_response');
}

export async function cancel(settings: Settings, id: string, options: RequestOptions): Promise<CallView> {
  const isDone = ({ state }: CallView): boolean => state === 'CANCELLED';
  return changeCall(settings, { id, path: 'cancel', body: {}, isDone }, options);
}
