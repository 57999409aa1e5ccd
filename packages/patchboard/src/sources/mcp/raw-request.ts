import type { McpRequest, McpResponse } from './mcp-connection.ts';

type Params = Readonly<Record<string, unknown>>;

/** A request that is sent past the SDK's client, so that its response arrives as it was received. */
export interface RawRequest extends Pick<
  McpRequest,
  'method' | 'params' | 'headers' | 'signal' | 'onNotification' | 'onServerRequest' | 'onLateResponse'
> {
  /** `close`: closing the request's stream cancels it. Otherwise the parameters of `notifications/cancelled`. */
  readonly cancel: 'close' | Params;
}

/** A request that waits for its response. It settles once; later calls of `resolve` and `reject` have no effect. */
export class PendingRequest {
  readonly id: string;
  readonly request: RawRequest;
  readonly response: Promise<McpResponse>;
  readonly resolve: (response: McpResponse) => void;
  readonly reject: (error: unknown) => void;
  /** Ends the exchange of this request, and no other one. */
  readonly abort: AbortController = new AbortController();
  /** The server has responded, also if the response cannot be read. */
  hasResponse = false;

  constructor(id: string, request: RawRequest) {
    this.id = id;
    this.request = request;
    let settle: Pick<PendingRequest, 'resolve' | 'reject'> = { resolve: () => {}, reject: () => {} };
    this.response = new Promise((resolve, reject) => (settle = { resolve, reject }));
    this.resolve = settle.resolve;
    this.reject = settle.reject;
  }

  /** Undefined if the caller wants no progress notifications. */
  get progressToken(): unknown {
    const meta = this.request.params['_meta'];
    return typeof meta === 'object' && meta !== null ? (meta as Params)['progressToken'] : undefined;
  }
}
