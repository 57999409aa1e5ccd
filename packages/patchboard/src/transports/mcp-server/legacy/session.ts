import { randomUUID } from 'node:crypto';
import type { Principal } from '../../../core/access/principal.ts';
import type { DeclaredClient } from '../client.ts';
import type { LogLevel } from '../calls/log-levels.ts';
import type { RpcError, RpcId } from '../messages/rpc-error.ts';
import type { RpcResponse } from '../messages/rpc-response.ts';
import type { SessionStream } from './session-stream.ts';

/** A client's response to a request of the server: a JSON-RPC message with `result` or `error`. */
export type ClientResponse = Readonly<Record<string, unknown>>;

/** Returns an error if the response does not fit the request, which then stays open. */
export type ResponseHandler = (response: ClientResponse) => Promise<RpcError | null>;

/** Beyond it, the oldest request of the server is forgotten. */
const MAX_PENDING = 100;
const MAX_SUBSCRIPTIONS = 100;

/** What one client of an older protocol version has open here. It is a name, not a credential. */
export class Session {
  readonly id: string;
  readonly principal: Principal;
  readonly client: DeclaredClient;
  readonly protocolVersion: string;
  lastUsedAt: number;
  /** Events of tools below it are not sent. */
  logLevel: LogLevel = 'info';
  /** The stream of `GET /mcp`. */
  stream: SessionStream | null = null;
  /** URIs of the resources whose updates the client wants. */
  readonly #subscriptions: Set<string> = new Set();
  readonly #running: Map<RpcId, RpcResponse> = new Map();
  readonly #pending: Map<string, ResponseHandler> = new Map();
  readonly #closing: Set<() => void> = new Set();

  /** `id`: of a session that another node opened. */
  constructor(
    given: Pick<Session, 'principal' | 'client' | 'protocolVersion' | 'lastUsedAt'>,
    id: string = randomUUID(),
  ) {
    this.id = id;
    this.principal = given.principal;
    this.client = given.client;
    this.protocolVersion = given.protocolVersion;
    this.lastUsedAt = given.lastUsedAt;
  }

  get subscriptions(): Iterable<string> {
    return this.#subscriptions;
  }

  /** Returns false beyond the bound on subscriptions. */
  subscribe(uri: string): boolean {
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS && !this.#subscriptions.has(uri)) return false;
    this.#subscriptions.add(uri);
    this.stream?.watch(uri);
    return true;
  }

  unsubscribe(uri: string): void {
    this.#subscriptions.delete(uri);
    this.stream?.unwatch(uri);
  }

  /** Takes over what another node has changed. */
  change(logLevel: LogLevel, subscriptions: readonly string[]): void {
    this.logLevel = logLevel;
    for (const uri of this.#subscriptions) if (!subscriptions.includes(uri)) this.unsubscribe(uri);
    for (const uri of subscriptions) if (!this.#subscriptions.has(uri)) this.subscribe(uri);
  }

  /** Whether a request is running or a stream is open. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.stream !== null;
  }

  /** Makes the request one that `cancel` finds. Returns a function that removes it. */
  started(response: RpcResponse): () => void {
    this.#running.set(response.id, response);
    return () => {
      if (this.#running.get(response.id) === response) this.#running.delete(response.id);
    };
  }

  /** `notifications/cancelled`. Returns false for an unknown request: it has ended, or another node has taken it. */
  cancel(requestId: RpcId): boolean {
    const running = this.#running.get(requestId);
    running?.cancel();
    return running !== undefined;
  }

  /** Returns the id of a new request of the server. Ids are random, so that no response can be guessed. */
  expect(handler: ResponseHandler): string {
    if (this.#pending.size >= MAX_PENDING) {
      const [oldest] = this.#pending.keys();
      if (oldest !== undefined) this.#pending.delete(oldest);
    }
    const id = randomUUID();
    this.#pending.set(id, handler);
    return id;
  }

  /** Whether this node has sent the request. */
  expects(id: unknown): boolean {
    return typeof id === 'string' && this.#pending.has(id);
  }

  /** Passes the response on once, and another one if it was not taken. Null also if no request has that id. */
  async respond(id: unknown, response: ClientResponse): Promise<RpcError | null> {
    const handler = typeof id === 'string' ? this.#pending.get(id) : undefined;
    if (handler === undefined) return null;
    this.#pending.delete(id as string);
    let isTaken = false;
    try {
      const problem = await handler(response);
      isTaken = problem === null;
      return problem;
    } finally {
      if (!isTaken) this.#pending.set(id as string, handler);
    }
  }

  /** Returns a function that removes the listener. */
  onClose(listener: () => void): () => void {
    this.#closing.add(listener);
    return () => this.#closing.delete(listener);
  }

  /** Ends the stream and forgets the requests of the server. Calls that are running go on. */
  close(): void {
    this.stream?.close();
    this.#pending.clear();
    for (const listener of this.#closing) listener();
    this.#closing.clear();
  }
}
