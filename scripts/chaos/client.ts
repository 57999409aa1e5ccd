import { sseDecoder, type ToolRequest } from '@patchboard/wire';
import type { History } from './history.ts';
import { orGone, type HttpResponse } from './http.ts';
import type { ServerAddress } from './server-address.ts';
import type { Api } from './server-api.ts';
import type { SeededRandom } from './seeded-random.ts';

export const CLIENT_ID = 'chaos-client';
export const REMOTE_TOOL = 'chaos.remote';
/** Id of a client that never connects: its calls can only time out. */
export const FORGOTTEN_TOOL = 'chaos.forgotten';
const FORGOTTEN_TIMEOUT_MS = 900;
const REMOTE_TIMEOUT_MS = 15_000;

export async function registerClientTools(api: Api): Promise<void> {
  const schema = { type: 'object' };
  const lend = async (client_id: string, name: string, timeout_ms: number): Promise<void> => {
    const response = await api.post('/internal/tools/register', {
      client_id,
      tools: [{ name, schema, timeout_ms }],
    });
    if (response.body['ok'] !== true) throw new Error(`not registered: ${JSON.stringify(response.body)}`);
  };
  await lend(CLIENT_ID, REMOTE_TOOL, REMOTE_TIMEOUT_MS);
  await lend('chaos-offline', FORGOTTEN_TOOL, FORGOTTEN_TIMEOUT_MS);
}

/**
 * A client that survives restarts of the server: it polls, acknowledges, and submits until it gets a
 * response.
 */
export class ChaosClient {
  readonly #history: History;
  readonly #address: ServerAddress;
  readonly #random: SeededRandom;
  readonly #work: Set<Promise<void>> = new Set();
  /** Aborts its stream. */
  readonly #stop = new AbortController();
  #deliveries = 0;

  constructor(history: History, address: ServerAddress, random: SeededRandom) {
    this.#history = history;
    this.#address = address;
    this.#random = random;
  }

  /** Number of requests received. */
  get deliveries(): number {
    return this.#deliveries;
  }

  /** Runs until the test ends; finishes its current request first. */
  async run(): Promise<void> {
    for (;;) {
      const api = await this.#address.wait();
      if (api === null) break;
      if (this.#random.chance(0.5)) await this.#poll(api);
      else await this.#stream(api);
    }
    await Promise.all(this.#work);
  }

  /** Closes the stream; `run` then returns once the test has ended. */
  hangUp(): void {
    this.#stop.abort();
  }

  async #poll(api: Api): Promise<void> {
    const { signal } = this.#stop;
    const response = await orGone(api.get(`/internal/clients/${CLIENT_ID}/requests?wait=1`, { signal }));
    if (response === null) return await pause();
    const requests = response.body['requests'];
    for (const request of Array.isArray(requests) ? (requests as ToolRequest[]) : []) this.#take(request);
  }

  /** Reads for a while, or until the server stops. */
  async #stream(api: Api): Promise<void> {
    const decode = sseDecoder();
    const text = new TextDecoder();
    const enough = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.#random.between(200, 2000))]);
    try {
      const response = await api.open(`/internal/clients/${CLIENT_ID}/requests`, enough);
      for await (const chunk of response.body ?? []) {
        for (const frame of decode(text.decode(chunk as Uint8Array, { stream: true }))) {
          if (frame.event === 'tool_request' && frame.data !== null)
            this.#take(JSON.parse(frame.data) as ToolRequest);
        }
      }
    } catch {
      await pause();
    }
  }

  #take(request: ToolRequest): void {
    this.#deliveries += 1;
    const result = { n: (request.args as { n: number }).n, delivery: this.#deliveries };
    const work = this.#serve(request, result, this.#random.fork());
    this.#work.add(work);
    work.then(
      () => this.#work.delete(work),
      (error: unknown) => this.#history.violations.push(`the client failed: ${String(error)}`),
    );
  }

  async #serve(request: ToolRequest, result: unknown, random: SeededRandom): Promise<void> {
    const path = `/internal/tool_calls/${request.tool_call_id}`;
    const token = { attempt_token: request.attempt_token };
    if (random.chance(0.8)) {
      const begun = await this.#persist(`${path}/ack`, token);
      if (begun === null || begun.status !== 200) return; // it ended otherwise
    }
    await new Promise<void>((resolve) => setTimeout(resolve, random.between(0, 60)));
    const submission = { status: 'SUCCEEDED', result, ...token };
    const both = random.chance(0.2);
    const first = this.#submit(path, submission);
    if (both) await this.#submit(path, { ...submission, result: { other: true } });
    await first;
    if (random.chance(0.3)) await this.#submit(path, submission);
    if (random.chance(0.2)) await this.#submit(path, { ...submission, result: { late: true } });
  }

  async #submit(path: string, submission: { readonly result: unknown }): Promise<void> {
    const id = path.split('/').at(-1) ?? '';
    const response = await this.#history.exchange('submit', id, () =>
      this.#persist(`${path}/submit`, submission),
    );
    if (response === null) return;
    const known = this.#history.submissionsOf(id);
    const result = JSON.stringify(submission.result);
    if (response.status === 200) {
      if (known.accepted.has(result)) known.repeated += 1;
      known.accepted.add(result);
    } else if (response.status === 409) known.conflicts += 1;
    else
      this.#history.violations.push(`a submission got ${response.status}: ${JSON.stringify(response.body)}`);
  }

  /** Retries until there is a response, across any number of restarts. Null if the test has ended. */
  async #persist(path: string, body: unknown): Promise<HttpResponse | null> {
    for (;;) {
      const api = await this.#address.wait();
      if (api === null) return null;
      const response = await orGone(api.post(path, body));
      const isRefused = response !== null && (response.status === 503 || this.#history.isExcused(response));
      if (response !== null && !isRefused) return response;
      await pause();
    }
  }
}

/** A stopping server refuses at once: pause between retries instead of a tight loop. */
async function pause(): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, 20));
}
