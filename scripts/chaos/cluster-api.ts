import { now } from './history.ts';
import { get, post, type Asking, type HttpResponse } from './http.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Api } from './server-api.ts';

/** A request that got no response, or one that says that the server has a problem. */
export interface FailedRequest {
  /** Undefined: through the balancer. */
  readonly node: number | undefined;
  readonly what: string;
  /** Epoch milliseconds, as is the next one. */
  readonly sentAt: number;
  readonly failedAt: number;
}

export interface ClusterApiParts {
  readonly balancerUrl: string;
  /** URLs of the nodes by number, null while a node has none. */
  readonly nodes: () => readonly (string | null)[];
  readonly operatorToken: string;
  readonly random: SeededRandom;
  readonly violations: string[];
  /** Other programs use the machine, so nodes may refuse requests because they have no turn. */
  readonly isMachineBusy: boolean;
}

/** A client gives up on a node that stands still; longer than any read waits. */
const PATIENCE_MS = 5000;

/** Sends each request through the balancer, or to a node that is drawn. */
export class ClusterApi implements Api {
  readonly #parts: ClusterApiParts;
  readonly failures: FailedRequest[] = [];
  /** Of the agents, who must not decide about their own calls. Null: the operator makes the calls. */
  agentKey: string | null = null;
  /** While true, all requests go through the balancer, and none may fail. */
  isStrict = false;
  strictRequests = 0;
  readonly #strict: Set<Promise<unknown>> = new Set();

  constructor(parts: ClusterApiParts) {
    this.#parts = parts;
  }

  async get(path: string, asking: Asking = {}): Promise<HttpResponse> {
    return await this.#counted(this.#send('GET', path, asking, (url, given) => get(`${url}${path}`, given)));
  }

  async post(path: string, body: unknown, asking: Asking = {}): Promise<HttpResponse> {
    return await this.#counted(
      this.#send('POST', path, asking, (url, given) => post(`${url}${path}`, body, given)),
    );
  }

  /** Resolves when every request that was sent while `isStrict` was true has ended: only then a fault may end requests again. */
  async strictEnded(): Promise<void> {
    await Promise.allSettled(this.#strict);
  }

  async #counted(sending: Promise<HttpResponse>): Promise<HttpResponse> {
    if (!this.isStrict) return await sending;
    this.strictRequests += 1;
    this.#strict.add(sending);
    try {
      return await sending;
    } finally {
      this.#strict.delete(sending);
    }
  }

  async open(
    path: string,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { url } = this.#target();
    return await fetch(`${url}${path}`, { headers: { ...this.#headers('GET', path), ...headers }, signal });
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    asking: Asking,
    send: (url: string, asking: Asking) => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const { isStrict } = this;
    const what = `${method} ${path}`;
    const { url, node } = this.#target();
    const sentAt = now();
    const failed = (how: string): void => {
      this.failures.push({ node, what: `${what}: ${how}`, sentAt, failedAt: now() });
      const ms = Math.round(now() - sentAt);
      if (isStrict) this.#parts.violations.push(`${stamp()} rolling restart: ${what} ${how} after ${ms} ms`);
    };
    const patience = AbortSignal.timeout(PATIENCE_MS);
    const given = asking.signal === undefined ? [] : [asking.signal];
    try {
      // The balancer chooses a node for each connection; one that reads HTTP would do so for each request.
      const perRequest: Record<string, string> = node === undefined ? { connection: 'close' } : {};
      const headers = { ...this.#headers(method, path), ...perRequest, ...asking.headers };
      const signal = AbortSignal.any([...given, ...(isStrict ? [] : [patience])]);
      const response = await send(url, { headers, ...(isStrict && given.length === 0 ? {} : { signal }) });
      const isRefused = this.#parts.isMachineBusy && isOverloaded(response);
      if (response.status >= 500 && !isRefused) failed(`${response.status} ${JSON.stringify(response.body)}`);
      return { ...response, ...(node === undefined ? {} : { node }) };
    } catch (error) {
      if (asking.signal?.aborted === true) throw error;
      const cause = (error as Error).cause as { code?: string } | undefined;
      failed(patience.aborted ? `no response in ${PATIENCE_MS} ms` : (cause?.code ?? String(error)));
      if (patience.aborted) throw new TypeError('gave up', { cause: error });
      throw error;
    }
  }

  #target(): { readonly url: string; readonly node: number | undefined } {
    const { balancerUrl, nodes, random } = this.#parts;
    const known = nodes().flatMap((url, node) => (url === null ? [] : [{ url, node }]));
    if (this.isStrict || known.length === 0 || random.chance(0.4))
      return { url: balancerUrl, node: undefined };
    return random.pick(known);
  }

  #headers(method: 'GET' | 'POST', path: string): Readonly<Record<string, string>> {
    const isOfAgent = method === 'POST' && (path.startsWith('/v1/tools/') || path.endsWith('/input'));
    const token = (isOfAgent ? this.agentKey : null) ?? this.#parts.operatorToken;
    return { authorization: `Bearer ${token}` };
  }
}

/** Not because it shuts down, which has another reason. */
function isOverloaded({ status, body }: HttpResponse): boolean {
  const [first] = (body['reasons'] ?? []) as { readonly code: string }[];
  return status === 503 && first?.code === 'overloaded';
}

/** For messages. */
export function stamp(at = Date.now()): string {
  return new Date(at).toISOString();
}
