import { PEER_ID_PATTERN, WIRE_LIMITS } from '@patchboard/wire';
import { resolveRuntime, type ClientClock, type FetchLike, type Runtime } from './runtime.ts';

export interface RetryOptions {
  /** Number of retries of a request that is safe to repeat. Default 4. */
  readonly retries?: number;
  /** First back-off delay; doubles with each retry. Default 200. */
  readonly baseDelayMs?: number;
  /** Maximum back-off delay. Default 5,000. */
  readonly maxDelayMs?: number;
  /** A longer `Retry-After` ends the retries. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** How long `wait` and streams retry while the server is unreachable. Default 120,000. */
  readonly reconnectForMs?: number;
}

export interface ClientOptions {
  /** Base URL of the server, such as `http://127.0.0.1:8080`. It may have a path prefix. */
  readonly url: string;
  /** API key or JWT, sent as a bearer token. A function is called before each request. */
  readonly key?: string | (() => string | Promise<string>);
  /** Sent as `X-Agent-ID`. If there is a credential, the server takes the agent from it and refuses another name. */
  readonly agentId?: string;
  /** The run of calls that do not name another. Default: a new id for this client. */
  readonly runId?: string;
  /** Added to every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the runtime's `fetch`. It must support streaming for `events` and `requests`. */
  readonly fetch?: FetchLike;
  readonly clock?: ClientClock;
  /** Random source for jitter. Default `Math.random`. */
  readonly random?: () => number;
  /** Timeout of one attempt of a request, in addition to the time of a long poll. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** The client reconnects a stream that received nothing, not even a keep-alive, for this long. Default 60,000. */
  readonly idleTimeoutMs?: number;
  /** Duration of one long poll in seconds. Default 25, which most proxies allow; at most 60. */
  readonly pollSeconds?: number;
  readonly retry?: RetryOptions;
}

/** Client options with all defaults filled in. */
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
