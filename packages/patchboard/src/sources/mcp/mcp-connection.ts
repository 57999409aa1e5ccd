import type { UpstreamStatus } from '../../core/upstreams/upstream.ts';

/** A connection to one MCP server that stays usable: it connects again by itself. */
export interface McpConnection {
  /** Null: not negotiated yet. */
  readonly era: 'modern' | 'legacy' | null;
  readonly isOnline: boolean;
  /** Begins to connect, in the background. */
  start(listener: McpConnectionListener): void;
  /**
   * Sends one request and resolves to the response as it was received. Connects first if necessary. Rejects with
   * `NotStarted`, `ConnectionLost`, `ResponseTooLarge`, or the reason of `signal`. Never sends a request twice.
   */
  request(request: McpRequest): Promise<McpResponse>;
  /** Reads the tools again, in the background. */
  refreshTools(): void;
  status(): McpConnectionStatus;
  /** Ends the connection, forgets failures and connects again. Pending requests reject with `ConnectionLost`. */
  restart(): Promise<void>;
  /** Resolves when the connection is closed and its process group has ended. */
  close(): Promise<void>;
}

export type McpConnectionStatus = Omit<UpstreamStatus, 'inFlight' | 'latencyMs'>;

/** Receives what a connection reports. */
export interface McpConnectionListener {
  /** The tools were listed: these are all of them, as the server sent them. */
  toolsListed(list: McpToolList): void;
  /** The state of `status` changed. */
  stateChanged(): void;
}

export interface McpToolList {
  /** Members of `tools` that are objects; at most 500. */
  readonly tools: readonly Readonly<Record<string, unknown>>[];
  /** How many more tools the server listed. */
  readonly omitted: number;
  /** False: the list has more pages than are read, so that more tools than `omitted` are missing. */
  readonly isComplete: boolean;
  /** Null: the server does not declare it. */
  readonly server: { readonly name: string; readonly version: string } | null;
  readonly protocolVersion: string;
  /** The id by which a Patchboard declares itself; null: the server is none, or an older one. */
  readonly instance: string | null;
}

export interface McpRequest {
  readonly method: string;
  /** Without the `_meta` members that the connection adds: protocol version, client info, capabilities. */
  readonly params: Readonly<Record<string, unknown>>;
  /** What this request's caller can respond to. Modern servers receive it with the request; older ones do not. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Additional HTTP headers, such as `Mcp-Param-*`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the request: a modern HTTP stream is closed, otherwise `notifications/cancelled` is sent. */
  readonly signal: AbortSignal;
  /** Called right before the request is sent: until then it has certainly not started. */
  readonly onSend?: () => void;
  /** Notifications that belong to this request: progress and log messages. */
  readonly onNotification?: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /**
   * Handles a request of an older server during this request: elicitation or sampling. Resolves to the result; if it rejects,
   * the server receives an error. While it is set the request is the only one of its connection. Absent: such requests are
   * refused, as are those that may be for an earlier request without a response.
   */
  readonly onServerRequest?: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /**
   * Called if the response arrives after the request has rejected, as for a cancelled one, or cannot be read: the server is done
   * with it.
   */
  readonly onLateResponse?: () => void;
}

export type McpResponse =
  | { readonly kind: 'result'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data: unknown };

export interface NotStartedOptions {
  readonly mayRetry: boolean;
  readonly status?: number | null;
  readonly retryAfterMs?: number | null;
}

/** The request certainly did not reach a tool: refused connection, DNS, TLS, 401, 403, 404 of a session, 429. */
export class NotStarted extends Error {
  /** Whether another attempt within the deadline may succeed. False after 401 and 403. */
  readonly mayRetry: boolean;
  /** Null: not an HTTP status. */
  readonly status: number | null;
  /** The `Retry-After` of the response; null: it has none. */
  readonly retryAfterMs: number | null;

  constructor(message: string, { mayRetry, status = null, retryAfterMs = null }: NotStartedOptions) {
    super(message);
    this.name = 'NotStarted';
    this.mayRetry = mayRetry;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The specification says 404. Many servers, such as those made after the first examples of the SDK, respond with 400. */
export function isUnknownSession(status: number | null): boolean {
  return status === 404 || status === 400;
}

/** The request was sent, and the connection or the process ended without a response, or with a 5xx: outcome unknown. */
export class ConnectionLost extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConnectionLost';
  }
}

/** The response, or one event of its stream, exceeds 4 MiB: outcome unknown. */
export class ResponseTooLarge extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ResponseTooLarge';
  }
}
