import type { DeviceFrame, GatewayFrame } from '@patchboard/wire';
import { PatchboardError } from '../errors.ts';
import { abortReason, onAbort } from '../http/abort.ts';
import { utf8Length } from './utf8-length.ts';
import { inputDeclined, inputMembers, type LentInputRequest } from './input-request.ts';

type ResponseFrame = Extract<GatewayFrame, { type: 'input_response' }>;
type RefusedFrame = Extract<GatewayFrame, { type: 'input_refused' }>;
type ErrorFrame = Extract<GatewayFrame, { type: 'error' }>;

interface OpenRequest {
  readonly frame: Extract<DeviceFrame, { type: 'input_request' }>;
  readonly resolve: (response: ResponseFrame) => void;
  readonly reject: (error: unknown) => void;
}

/** Asks the caller of one request. Resolves with the content; rejects if there is none. */
export type RequestInput = (request: LentInputRequest) => Promise<unknown>;

/** The input requests of a device that have no response yet: at most one for each request that it works on. */
export class DeviceInputs {
  readonly #open: Map<string, OpenRequest> = new Map();
  readonly #send: (frame: string) => void;
  readonly #maxBytes: () => number;

  /** `maxBytes`: the largest frame that the server accepts. */
  constructor(send: (frame: string) => void, maxBytes: () => number) {
    this.#send = send;
    this.#maxBytes = maxBytes;
  }

  /** `extended`: called with the new deadline after each response. */
  forRequest(id: string, signal: AbortSignal, extended: (deadlineAt: Date) => void): RequestInput {
    let asked = 0;
    let last: Promise<unknown> = Promise.resolve();
    const ask = async (key: string, request: LentInputRequest): Promise<unknown> => {
      const response = await this.#ask({ type: 'input_request', id, key, ...inputMembers(request) }, signal);
      extended(new Date(response.deadline_at));
      if (response.action === 'decline') throw inputDeclined();
      return response.content ?? null;
    };
    return (request) => {
      asked += 1;
      const key = String(asked);
      // A call asks for one thing at a time.
      const turn = last.then(() => ask(key, request));
      last = turn.catch(() => undefined);
      return turn;
    };
  }

  /** To be sent again after a reconnect: the server asks the caller once. */
  frames(): string[] {
    return [...this.#open.values()].map(({ frame }) => JSON.stringify(frame));
  }

  responded(response: ResponseFrame): void {
    this.#take(response)?.resolve(response);
  }

  refused(refusal: RefusedFrame): void {
    const { failure_code: code, message, reasons = [] } = refusal;
    this.#take(refusal)?.reject(new PatchboardError('input', message, { code, reasons }));
  }

  /** Handles an error for the request with this id. Returns true if the input request should be sent again later. */
  failed({ id = '', code, failure_code: failureCode, message }: ErrorFrame): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return false;
    if (failureCode !== 'body_invalid') return true;
    this.#open.delete(id);
    // An older server does not know the frame.
    const reported = code === 'UNKNOWN_MESSAGE_TYPE' ? 'input_unavailable' : failureCode;
    open.reject(new PatchboardError('input', message, { code: reported }));
    return false;
  }

  resend(id: string): void {
    const open = this.#open.get(id);
    if (open !== undefined) this.#send(JSON.stringify(open.frame));
  }

  #take({ id, key }: ResponseFrame | RefusedFrame): OpenRequest | undefined {
    const open = this.#open.get(id);
    // A repeated response to an earlier request.
    if (open?.frame.key !== key) return undefined;
    this.#open.delete(id);
    return open;
  }

  async #ask(frame: OpenRequest['frame'], signal: AbortSignal): Promise<ResponseFrame> {
    const text = JSON.stringify(frame);
    const limit = this.#maxBytes();
    if (utf8Length(text) > limit)
      throw new PatchboardError('input', `the input request is larger than ${limit} bytes`, {
        code: 'too_large',
      });
    let detach = (): void => undefined;
    try {
      return await new Promise<ResponseFrame>((resolve, reject) => {
        this.#open.set(frame.id, { frame, resolve, reject });
        detach = onAbort(signal, () => {
          this.#open.delete(frame.id);
          reject(abortReason(signal) as Error);
        });
        if (!signal.aborted) this.#send(text);
      });
    } finally {
      detach();
    }
  }
}
