import { WIRE_LIMITS, type ClientInputRequest, type ClientInputView } from '@patchboard/wire';
import { decodeClientInput } from '../decode/views.ts';
import { pause } from '../http/abort.ts';
import { boundsOf, requestOnce, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { backoff, retrier } from '../http/retry.ts';
import { inputDeclined, inputMembers, type LentInputRequest } from './input-request.ts';

/** Options of `Provider.requestInput`. */
export interface LentInputOptions extends RequestOptions {
  /** The `attempt_token` of the request that is worked on. */
  readonly attemptToken: string;
  /**
   * Names the input request within the attempt: sent again under the same key, also by another process, it is not put to
   * the caller a second time. Default: a new one.
   */
  readonly key?: string;
}

/** The program that asks, and the headers that name its client. */
export interface AskingProgram {
  readonly headers: Readonly<Record<string, string>>;
  readonly program: string;
}

/** Asks the caller of a call over HTTP, and waits for the response by long polls. */
export async function requestInput(
  settings: Settings,
  { headers, program }: AskingProgram,
  toolCallId: string,
  request: LentInputRequest,
  options: LentInputOptions,
): Promise<unknown> {
  const bounds = boundsOf(options);
  const body: ClientInputRequest = {
    key: options.key ?? settings.newId(),
    ...inputMembers(request),
    attempt_token: options.attemptToken,
    program_id: program,
  };
  const what: HttpRequest = {
    method: 'POST',
    path: `/internal/tool_calls/${encodeURIComponent(toolCallId)}/input_request`,
    headers,
    body,
    waitSeconds: WIRE_LIMITS.waitSeconds,
    repeat: 'safe', // because of the key
  };
  const retry = retrier(settings, bounds, 'patient');
  let early = 0;
  for (;;) {
    const polledAt = settings.clock.now();
    let view: ClientInputView;
    try {
      view = await requestOnce(settings, what, decodeClientInput, bounds);
    } catch (error) {
      await retry.pause(error, what.repeat);
      continue;
    }
    retry.reset();
    if (view.action === 'decline') throw inputDeclined();
    if (view.action === 'accept') return view.content ?? null;
    // A proxy may drop `Prefer`, and a server that shuts down returns early: do not poll in a tight loop.
    early = settings.clock.now() - polledAt < WIRE_LIMITS.waitSeconds * 500 ? early + 1 : 0;
    if (early > 0) await pause(settings.clock, backoff(settings, early), bounds.signal);
  }
}
