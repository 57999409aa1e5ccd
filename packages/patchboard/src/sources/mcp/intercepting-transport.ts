import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { AsyncLocalStorage } from 'node:async_hooks';
import { isRecord } from '@patchboard/wire/json';
import { ConnectionLost, NotStarted, type McpResponse } from './mcp-connection.ts';
import { PendingRequest, type RawRequest } from './raw-request.ts';

type Message = Readonly<Record<string, unknown>>;

/** The most responses to requests of the server that are under way at once: a server may send requests without end. */
const MOST_REPLIES = 32;

/** The most unanswered requests whose late response is recognized: most servers never send it. */
const MOST_UNANSWERED = 100;

const METHOD_NOT_FOUND = -32_601;

export interface InterceptionOptions {
  /** Returns the error of a request whose message could not be sent, or its response if the error contains one. */
  readonly sendFailure: (error: unknown, id: string) => Error | McpResponse;
  /** Handles a request of the server. Returns null for those that the SDK's client handles. */
  readonly serverRequest: (method: string, params: Message) => Promise<unknown> | null;
  /** Returns the error of the requests that are pending when the transport closes. */
  readonly lossOf: () => Error;
  /** Receives each result that goes to the SDK's client. */
  readonly observeResult: (result: Message) => void;
}

/**
 * A transport between the SDK's client and its own transport. It sends requests past the client, with ids that the client
 * never uses, and returns their responses as they were received. All other messages go to the client.
 */
export class InterceptingTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** The pending request that the current code runs for: HTTP responses and notifications belong to the request of their stream. */
  readonly scope: AsyncLocalStorage<PendingRequest> = new AsyncLocalStorage();
  readonly #inner: Transport;
  readonly #options: InterceptionOptions;
  readonly #pending = new Map<string, PendingRequest>();
  /** Requests that ended without a response, oldest first. */
  readonly #unanswered = new Map<string, PendingRequest>();
  /** Cancellations that are being sent. */
  readonly #cancelling = new Set<Promise<void>>();
  #sent = 0;
  #replies = 0;

  constructor(inner: Transport, options: InterceptionOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  get pendingRequests(): readonly PendingRequest[] {
    return [...this.#pending.values()];
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      if (!this.#takes(message as Message)) this.onmessage?.(message, extra);
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      this.rejectAll(this.#options.lossOf());
      this.onclose?.();
    };
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const send = (): Promise<void> => this.#inner.send(message, options);
    await ('method' in message ? send() : this.#reply(send));
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** Sends one request. Rejects with the reason of its signal, or with what `sendFailure` returns. */
  async request(request: RawRequest): Promise<McpResponse> {
    request.signal.throwIfAborted();
    const pending = new PendingRequest(`pb-${(this.#sent += 1)}`, request);
    this.#pending.set(pending.id, pending);
    const onAbort = (): void => this.#cancel(pending);
    request.signal.addEventListener('abort', onAbort, { once: true });
    this.scope.run(pending, () => this.#transmit(pending));
    try {
      return await pending.response;
    } catch (error) {
      if (pending.hasResponse) request.onLateResponse?.();
      else if (!(error instanceof NotStarted)) this.#keepUnanswered(pending);
      throw error;
    } finally {
      this.#pending.delete(pending.id);
      request.signal.removeEventListener('abort', onAbort);
    }
  }

  /** Resolves when the cancellations of all requests were sent, or could not be. */
  async cancelsSettled(): Promise<void> {
    await Promise.all(this.#cancelling);
  }

  rejectAll(error: Error): void {
    for (const pending of this.#pending.values()) pending.reject(error);
  }

  /** Ends the request whose response cannot be read. It may have ended before, as a cancelled one. */
  rejectResponse(id: string, error: Error): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return void this.#takesLateResponse(id);
    pending.hasResponse = true;
    pending.reject(error);
  }

  #keepUnanswered(pending: PendingRequest): void {
    if (pending.request.onLateResponse === undefined) return;
    const [oldest] = this.#unanswered.keys();
    if (oldest !== undefined && this.#unanswered.size >= MOST_UNANSWERED) this.#unanswered.delete(oldest);
    this.#unanswered.set(pending.id, pending);
  }

  #transmit(pending: PendingRequest): void {
    const { method, params, headers } = pending.request;
    const lost = 'the response stream ended without a response';
    const options: TransportSendOptions = {
      requestSignal: pending.abort.signal,
      onRequestStreamEnd: () => pending.reject(new ConnectionLost(lost)),
      ...(headers === undefined ? {} : { headers }),
    };
    this.#inner.send({ jsonrpc: '2.0', id: pending.id, method, params }, options).catch((error: unknown) => {
      const failure = this.#options.sendFailure(error, pending.id);
      if (failure instanceof Error) pending.reject(failure);
      else pending.resolve(failure);
    });
  }

  #cancel(pending: PendingRequest): void {
    pending.reject(pending.request.signal.reason);
    if (pending.request.cancel === 'close') return pending.abort.abort();
    const params = { ...pending.request.cancel, requestId: pending.id, reason: 'The call was cancelled.' };
    // Outside of the scope: the response to this notification is not the one of the request.
    const sent = this.scope.exit(() =>
      this.#inner.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }),
    );
    const end = (): void => {
      this.#cancelling.delete(settled);
      pending.abort.abort();
    };
    const settled = sent.then(end, end);
    this.#cancelling.add(settled);
  }

  /** Returns whether the message is for a request of this transport, and not for the client. */
  #takes(message: Message): boolean {
    const { id, method } = message;
    if (typeof method !== 'string') return this.#takesResponse(message);
    const params = (message['params'] ?? {}) as Message;
    if (id !== undefined) return this.#takesServerRequest(id as string | number, method, params);
    const pending = this.#ownerOf(method, params);
    pending?.request.onNotification?.(method, params);
    return pending !== undefined;
  }

  #takesResponse(message: Message): boolean {
    const id = message['id'] as string;
    if (this.#takesLateResponse(id)) return true;
    const pending = this.#pending.get(id);
    if (pending === undefined) {
      if (isRecord(message['result'])) this.#options.observeResult(message['result']);
      return false;
    }
    pending.hasResponse = true;
    pending.resolve(responseOf(message));
    return true;
  }

  #takesLateResponse(id: string): boolean {
    const late = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    late?.request.onLateResponse?.();
    return late !== undefined;
  }

  /** The request that a progress or log notification belongs to. */
  #ownerOf(method: string, params: Message): PendingRequest | undefined {
    const waiting = this.pendingRequests;
    if (method === 'notifications/progress')
      return waiting.find(({ progressToken }) => progressToken === params['progressToken']);
    if (method !== 'notifications/message') return undefined;
    // A log message names no request: without a stream of its own it is the one that is alone.
    return this.scope.getStore() ?? (waiting.length === 1 ? waiting[0] : undefined);
  }

  #takesServerRequest(id: string | number, method: string, params: Message): boolean {
    const hasRoom = this.#replies < MOST_REPLIES;
    const result = hasRoom ? this.#options.serverRequest(method, params) : null;
    if (result === null) return !hasRoom;
    const reply = async (): Promise<void> => {
      const message = await result.then(
        (value) => ({ jsonrpc: '2.0' as const, id, result: value as Record<string, unknown> }),
        (error: unknown) => ({ jsonrpc: '2.0' as const, id, error: rpcErrorOf(error) }),
      );
      await this.#inner.send(message);
    };
    this.scope.exit(() => this.#reply(reply)).catch((error: unknown) => this.onerror?.(error as Error));
    return true;
  }

  /** Counts the response to a request of the server until it is sent. Beyond the limit it is not sent. */
  async #reply(send: () => Promise<void>): Promise<void> {
    if (this.#replies >= MOST_REPLIES)
      throw new Error('the server sends more requests than it reads responses');
    this.#replies += 1;
    try {
      await send();
    } finally {
      this.#replies -= 1;
    }
  }
}

/** A refusal of a request of the server, which receives the message. */
export class ServerRequestRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ServerRequestRefused';
  }
}

/** The server learns nothing about an unexpected error. */
function rpcErrorOf(error: unknown): { code: number; message: string } {
  if (error instanceof ServerRequestRefused) return { code: METHOD_NOT_FOUND, message: error.message };
  return { code: -32_603, message: 'The caller did not respond.' };
}

export function responseOf(message: Message): McpResponse {
  const { result, error } = message;
  if (isRecord(result)) return { kind: 'result', result };
  const { code, message: text, data = null } = (isRecord(error) ? error : {}) as Message;
  return {
    kind: 'error',
    code: typeof code === 'number' ? code : -32_603,
    message: typeof text === 'string' ? text : 'The server sent an error without a message.',
    data,
  };
}
