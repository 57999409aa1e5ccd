import type { EventStream } from '../../shared/streams/streams.ts';
import type { ReplyChannel } from './reply-channel.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { errorJson, RpcError, type RpcId } from './rpc-error.ts';

/** The response to one JSON-RPC request, and what is sent before it. */
export class RpcResponse {
  readonly #channel: ReplyChannel;
  readonly #id: RpcId;
  readonly #stop: AbortController = new AbortController();
  #isDone = false;
  #isCancelled = false;

  constructor(channel: ReplyChannel, id: RpcId) {
    this.#channel = channel;
    this.#id = id;
  }

  get id(): RpcId {
    return this.#id;
  }

  /** Whether messages can be sent before the result. */
  get canStream(): boolean {
    return this.#channel.canStream;
  }

  /** Whether the client has closed the connection. */
  get isGone(): boolean {
    return !this.#isDone && this.#channel.isGone;
  }

  /** Whether the result was sent, or none will be. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Whether the client has cancelled the request. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /**
   * Runs `work` with a signal that aborts when the client cancels the request or disconnects, its credential ends or the
   * server closes. `work` then sends what is known.
   */
  async hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#stop;
    return await this.#channel.hold(
      () => this.#stop.abort(),
      () => work(signal),
    );
  }

  notify(method: string, params: Readonly<Record<string, unknown>>): void {
    this.notifyJson(method, JSON.stringify(params));
  }

  /** `params` is JSON text. */
  notifyJson(method: string, params: string): void {
    this.#send(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`);
  }

  /** Turns the response into an event stream. */
  stream(): EventStream {
    return this.#channel.stream();
  }

  /** Sends a request of the server to a client of an older protocol version. */
  request(id: RpcId, method: string, params: Readonly<Record<string, unknown>>): void {
    this.#send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  /** Sends the result, which is JSON text, and ends the response. */
  result(json: string): void {
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(this.#id)},"result":${json}}`;
    this.#finish({ json: text, status: 200, failure: null });
  }

  error(error: RpcError): void {
    const { failure, status } = error;
    this.#finish({ json: errorJson(this.#id, error), status, failure });
  }

  /** Ends the response without a result. A client that accepts no stream gets an error, since it needs a body. */
  cancel(): void {
    if (this.#isDone) return;
    this.#isCancelled = true;
    if (this.canStream) this.#finish(null);
    else this.error(new RpcError(RPC_CODES.cancelled, 'Request cancelled'));
    this.#stop.abort();
  }

  #send(json: string): void {
    if (!this.#isDone) this.#channel.send(json);
  }

  #finish(finished: Parameters<ReplyChannel['finish']>[0]): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#channel.finish(finished);
  }
}
