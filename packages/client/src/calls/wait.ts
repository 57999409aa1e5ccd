import type { CallView, InputRequestView } from '@patchboard/wire';
import { pause, type Bounds } from '../http/abort.ts';
import { decodeCall } from '../decode/views.ts';
import { PatchboardError, TimeoutError } from '../errors.ts';
import { boundsOf, requestOnce, type RequestOptions } from '../http/http.ts';
import { positive, type Settings } from '../http/options.ts';
import { backoff, retrier } from '../http/retry.ts';
import { isEnded, lookup } from './call-record.ts';
import {
  handleRequest,
  INPUT_RESPONDED,
  respondInput,
  responseOf,
  type OnInputRequest,
} from './input-requests.ts';

export interface WaitOptions extends RequestOptions {
  /**
   * Total time to wait, not counting the time that `onInputRequest` takes. Default: until the call ends. The call continues
   * after a timeout.
   */
  readonly timeoutMs?: number;
  /** Responds to the input requests of the call. Without it, the wait goes on until the call ends. */
  readonly onInputRequest?: OnInputRequest;
}

export async function wait(settings: Settings, id: string, options: WaitOptions): Promise<CallView> {
  return new CallWait(settings, id, limited(settings, options), options.onInputRequest).run(null);
}

/** Waits for the end of one call by long polls, and responds to its input requests. */
export class CallWait {
  readonly #settings: Settings;
  readonly #id: string;
  readonly #onInputRequest: OnInputRequest | undefined;
  #bounds: Bounds;
  #lastFailure: unknown;
  /** Number of polls in a row that returned early. */
  #early = 0;

  constructor(settings: Settings, id: string, bounds: Bounds, onInputRequest: OnInputRequest | undefined) {
    this.#settings = settings;
    this.#id = id;
    this.#bounds = bounds;
    this.#onInputRequest = onInputRequest;
  }

  /** `asked`: the input request that the server has sent already. */
  async run(asked: InputRequestView | null): Promise<CallView> {
    const handler = this.#onInputRequest;
    let request = asked;
    // The server delays a long poll for a call that already waits for input: the first look does not wait.
    let isFirst = handler !== undefined;
    try {
      for (;;) {
        if (request !== null && handler !== undefined) {
          request = await this.#respond(request, handler);
          this.#early = 0;
        } else {
          const call = await this.#poll(this.#bounds, isFirst ? 0 : null);
          if (isEnded(call)) return call;
          request = call.input_request ?? null;
        }
        isFirst = false;
      }
    } catch (error) {
      throw error instanceof TimeoutError ? this.#stillOpen() : error;
    }
  }

  /** Returns the next request if the server has sent it with its response. */
  async #respond(request: InputRequestView, handler: OnInputRequest): Promise<InputRequestView | null> {
    const { clock } = this.#settings;
    const { signal, deadline } = this.#bounds;
    const askedAt = clock.now();
    const asked = { toolCallId: this.#id, request };
    const isOver = (until: AbortSignal): Promise<void> => this.#untilOver(request, until);
    const handled = await handleRequest(handler, asked, this.#bounds, isOver);
    this.#bounds = { signal, deadline: deadline + (clock.now() - askedAt) };
    if (handled === 'over' || handled.returned === INPUT_RESPONDED) return null;
    const response = responseOf(request, handled.returned);
    const options = signal === undefined ? {} : { signal };
    try {
      return (await respondInput(this.#settings, this.#id, response, options)).input_request ?? null;
    } catch (error) {
      // The request expired, or another program of this agent responded first.
      if (error instanceof PatchboardError && error.code === 'conflict') return null;
      throw error;
    }
  }

  /** Resolves when the call no longer waits for this request. */
  async #untilOver(request: InputRequestView, signal: AbortSignal): Promise<void> {
    // A program responds at once, and then needs no poll.
    await pause(this.#settings.clock, backoff(this.#settings, 1), signal);
    for (;;) {
      const call = await this.#poll({ signal, deadline: Infinity }, null);
      if (isEnded(call) || call.input_request?.id !== request.id) return;
    }
  }

  /** One long poll, repeated while the server cannot be reached. `seconds`: null for the usual time. */
  async #poll(bounds: Bounds, seconds: number | null): Promise<CallView> {
    const { clock } = this.#settings;
    const retry = retrier(this.#settings, bounds, 'patient');
    const acceptsInput = this.#onInputRequest !== undefined;
    // A proxy may drop `Prefer`, and a server that shuts down returns early: do not poll in a tight loop.
    if (this.#early > 0) {
      const delay = Math.min(backoff(this.#settings, this.#early), left(this.#settings, bounds));
      await pause(clock, delay, bounds.signal);
    }
    for (;;) {
      if (left(this.#settings, bounds) === 0) throw this.#stillOpen();
      const waitSeconds = seconds ?? pollSeconds(this.#settings, bounds);
      const polledAt = clock.now();
      try {
        const what = { ...lookup(this.#id), waitSeconds, acceptsInput };
        const call = await requestOnce(this.#settings, what, decodeCall, bounds);
        this.#lastFailure = undefined;
        this.#early = clock.now() - polledAt < waitSeconds * 500 ? this.#early + 1 : 0;
        return call;
      } catch (error) {
        this.#lastFailure = error instanceof TimeoutError ? this.#lastFailure : error;
        await retry.pause(error, 'safe');
      }
    }
  }

  #stillOpen(): TimeoutError {
    return new TimeoutError(`call ${this.#id} did not end within the time limit`, {
      toolCallId: this.#id,
      cause: this.#lastFailure,
    });
  }
}

export function limited(settings: Settings, options: WaitOptions): Bounds {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return boundsOf(options);
  return { signal: options.signal, deadline: settings.clock.now() + positive('timeoutMs', timeoutMs) };
}

function left(settings: Settings, bounds: Bounds): number {
  return Math.max(bounds.deadline - settings.clock.now(), 0);
}

/** Whole seconds, rounded up; the deadline ends the request if that is too long. */
export function pollSeconds(settings: Settings, bounds: Bounds): number {
  return Math.min(settings.pollSeconds, Math.ceil(left(settings, bounds) / 1000));
}
