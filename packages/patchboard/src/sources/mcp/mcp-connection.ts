/** A connection to one MCP server that stays usable: it connects again by itself. */
export interface McpConnection {
  /** Null: not negotiated yet. */
  readonly era: 'modern' | 'legacy' | null;
  readonly isOnline: boolean;
  /**
   * Sends one request and resolves to the response as it was received. Connects first if necessary. Rejects with
   * `NotStarted`, `ConnectionLost`, or the reason of `signal`. Never sends a request twice.
   */
  request(request: McpRequest): Promise<McpResponse>;
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
  /** Notifications that belong to this request: progress and log messages. */
  readonly onNotification?: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /**
   * Handles a request of an older server during this request: elicitation or sampling. While it is set the connection
   * carries no other request of this kind. Absent: such requests are refused.
   */
  readonly onServerRequest?: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

export type McpResponse =
  | { readonly kind: 'result'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data: unknown };

/** The request certainly did not reach a tool: refused connection, DNS, TLS, 401, 403, 404 of a session, 429. */
export class NotStarted extends Error {
  /** Whether another attempt within the deadline may succeed. False after 401 and 403. */
  readonly mayRetry: boolean;
  /** Null: not an HTTP status. */
  readonly status: number | null;

  constructor(message: string, { mayRetry, status = null }: { mayRetry: boolean; status?: number | null }) {
    super(message);
    this.name = 'NotStarted';
    this.mayRetry = mayRetry;
    this.status = status;
  }
}

/** The request was sent, and the connection or the process ended without a response, or with a 5xx: outcome unknown. */
export class ConnectionLost extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConnectionLost';
  }
}
