import { PEER_ID_PATTERN, WIRE_LIMITS } from '@patchboard/wire';
import { resolveRuntime, type ClientClock, type FetchLike, type Runtime } from './runtime.ts';

export interface RetryOptions {
  /** How often a request that is safe to repeat is tried again. Default 4. */
  readonly retries?: number;
  /** First pause; each further one doubles. Default 200. */
  readonly baseDelayMs?: number;
  /** Longest pause of our own choosing. Default 5,000. */
  readonly maxDelayMs?: number;
  /** A server that asks for a longer pause with `Retry-After` ends the retries. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** How long `wait` and streams go on trying while the server cannot be reached. Default 120,000. */
  readonly reconnectForMs?: number;
}

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:8080`. A path prefix is kept. */
  readonly url: string;
  /** API key or JWT, sent as a bearer token. A function is asked before each request. */
  readonly key?: string | (() => string | Promise<string>);
  /** Sent as `X-Agent-ID`; with a credential the server takes the agent from there and refuses another name. */
  readonly agentId?: string;
  /** The run that calls join unless they name another. Default: one made up for this client. */
  readonly runId?: string;
  /** Added to every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the runtime's own. It must be able to stream for `events` and `requests`. */
  readonly fetch?: FetchLike;
  readonly clock?: ClientClock;
  /** For jitter. Default `Math.random`. */
  readonly random?: () => number;
  /** One attempt of one request may take this long, on top of what it asks the server to wait. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** A stream on which not even a keep-alive arrives for this long is opened anew. Default 60,000. */
  readonly idleTimeoutMs?: number;
  /** Seconds that one long poll asks the server to hold. Default 25, which most proxies let pass; at most 60. */
  readonly pollSeconds?: number;
  readonly retry?: RetryOptions;
}

/** Options made whole. Nothing below this line is optional. */
export interface Settings extends Runtime {
  readonly url: string;
  readonly headers: () => Promise<Record<string, string>>;
  readonly runId: string;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly pollSeconds: number;
  readonly retry: Readonly<Required<RetryOptions>>;
}

const DEFAULT_RETRY: Required<RetryOptions> = {
  retries: 4,
  baseDelayMs: 200,
  maxDelayMs: 5_000,
  maxRetryAfterMs: 60_000,
  reconnectForMs: 120_000,
};

export function resolveSettings(options: ClientOptions): Settings {
  if (!/^https?:\/\/[^/]/.test(options.url)) throw new TypeError(`not an http(s) URL: ${options.url}`);
  const runtime = resolveRuntime(options);
  const runId = options.runId ?? `run_${runtime.newId()}`;
  if (!PEER_ID_PATTERN.test(runId)) throw new TypeError('runId must be 1 to 200 visible ASCII characters');
  return Object.freeze({
    ...runtime,
    url: options.url.replace(/\/+$/, ''),
    headers: headersOf(options),
    runId,
    requestTimeoutMs: positive('requestTimeoutMs', options.requestTimeoutMs ?? 30_000),
    idleTimeoutMs: positive('idleTimeoutMs', options.idleTimeoutMs ?? 60_000),
    pollSeconds: Math.min(positive('pollSeconds', options.pollSeconds ?? 25), WIRE_LIMITS.waitSeconds),
    retry: Object.freeze({ ...DEFAULT_RETRY, ...options.retry }),
  });
}

export function positive(name: string, value: number): number {
  if (!(value > 0)) throw new TypeError(`${name} must be positive`);
  return value;
}

function headersOf(options: ClientOptions): () => Promise<Record<string, string>> {
  const { key, agentId } = options;
  const fixed = { ...(agentId === undefined ? {} : { 'x-agent-id': agentId }), ...options.headers };
  if (key === undefined) return () => Promise.resolve({ ...fixed });
  return async () => ({
    ...fixed,
    authorization: `Bearer ${typeof key === 'function' ? await key() : key}`,
  });
}
