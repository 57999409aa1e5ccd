import { setTimeout as pause } from 'node:timers/promises';
import type { CallView } from '@patchboard/wire';
import { runAgent } from './agent.ts';
import { ChaosClient } from './client.ts';
import { History, type RequestKind } from './history.ts';
import { orGone, type HttpResponse } from './http.ts';
import { TOOLS } from './pack.ts';
import type { SeededRandom } from './seeded-random.ts';
import { ServerAddress } from './server-address.ts';
import type { Api } from './server-api.ts';

export interface LoadFacts {
  readonly requests: number;
  readonly acknowledged: number;
  /** Requests without a response because the server was killed. */
  readonly inDoubt: number;
  /** Requests that only got responses which say that nothing was recorded. */
  readonly refused: number;
  readonly submissionsAccepted: number;
  readonly submissionsRepeated: number;
  readonly submissionsRefused: number;
  readonly responses: Readonly<Record<string, number>>;
}

export interface LoadOptions {
  readonly random: SeededRandom;
  /** Whether the store is away at times. */
  readonly isStoreMortal: boolean;
  /** Called right after each receipt. */
  readonly onReceipt: () => void;
  /** Requests besides those that every server takes. Default: none. */
  readonly moreKinds?: readonly RequestKind[];
}

const AGENTS = 8;
/** Longer than the timeouts of client tools. */
const SETTLE_MS = 60_000;

const READS_AT_ONCE = 16;

/** Agents and a client that outlive the servers they use, and the history of what they observed. */
export class Load {
  readonly history: History;
  readonly #agentAddress = new ServerAddress();
  readonly #clientAddress = new ServerAddress();
  readonly #client: ChaosClient;
  readonly #agents: readonly Promise<void>[];
  readonly #serving: Promise<void>;
  #requests = 0;

  /** They wait until there is a server. */
  constructor({ random, isStoreMortal, onReceipt, moreKinds = [] }: LoadOptions) {
    const history = new History(isStoreMortal);
    this.history = history;
    const failed = (error: unknown): void => {
      history.violations.push(`an agent or the client failed: ${String(error)}`);
    };
    const nextNumber = (): number => (this.#requests += 1);
    const parts = { history, address: this.#agentAddress, nextNumber, moreKinds, onReceipt };
    this.#agents = Array.from({ length: AGENTS }, () => runAgent(parts, random.fork()).catch(failed));
    this.#client = new ChaosClient(history, this.#clientAddress, random.fork());
    this.#serving = this.#client.run().catch(failed);
  }

  get requests(): number {
    return this.#requests;
  }

  get receipts(): number {
    return new Set(this.history.acknowledged()).size;
  }

  use(api: Api): void {
    this.#agentAddress.set(api);
    this.#clientAddress.set(api);
  }

  pause(): void {
    this.#agentAddress.clear();
    this.#clientAddress.clear();
  }

  /** No new requests, also if the load was never settled. */
  end(): void {
    this.#agentAddress.end();
    this.#client.hangUp();
    this.#clientAddress.end();
  }

  /** Lets every call end, and reads each one that was acknowledged. */
  async settle(api: Api): Promise<void> {
    this.use(api);
    this.#agentAddress.end();
    await Promise.all(this.#agents);
    await this.#postTogether(api);
    await this.#untilAllEnded(api);
    const ids = this.history.acknowledged();
    for (let start = 0; start < ids.length; start += READS_AT_ONCE)
      await Promise.all(ids.slice(start, start + READS_AT_ONCE).map((id) => this.#mustBeThere(api, id)));
    this.end();
    await this.#serving;
  }

  facts(): LoadFacts {
    const { invocations, submissions } = this.history;
    const requests = [...invocations.values()];
    const all = [...submissions.values()];
    return {
      requests: requests.length,
      acknowledged: this.receipts,
      inDoubt: requests.filter(({ sent, refused, acknowledged }) => sent > refused && acknowledged.size === 0)
        .length,
      refused: requests.filter(({ sent, refused }) => sent > 0 && sent === refused).length,
      submissionsAccepted: all.reduce((sum, one) => sum + one.accepted.size, 0),
      submissionsRepeated: all.reduce((sum, one) => sum + one.repeated, 0),
      submissionsRefused: all.reduce((sum, one) => sum + one.conflicts, 0),
      responses: this.history.responses(),
    };
  }

  /** G2: a hundred posts with one key at the same time are one call. */
  async #postTogether(api: Api): Promise<void> {
    const n = (this.#requests += 1);
    const invocation = { n, kind: 'keyed' as const, acknowledged: new Set<string>(), sent: 100, refused: 0 };
    this.history.invocations.set(n, invocation);
    const body = { run_id: `run_${n}`, args: { n, ms: 1 } };
    const headers = { 'idempotency-key': `key-${n}` };
    const path = `/v1/tools/${TOOLS.effect}/invoke`;
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => this.#insist(() => api.post(path, body, { headers }))),
    );
    for (const { body: receipt } of responses) invocation.acknowledged.add(String(receipt['tool_call_id']));
    const other = await this.#insist(() => api.post(path, { ...body, args: { n, ms: 2 } }, { headers }));
    if (other.status !== 422)
      this.history.violations.push(`another body under the same key got ${other.status}`);
  }

  /** Repeats a request while the server may refuse it, or its connection may be lost. */
  async #insist(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
    for (;;) {
      const response = this.history.isStoreMortal ? await orGone(send()) : await send();
      if (response !== null && !this.history.isExcused(response)) return response;
      await pause(100);
    }
  }

  async #untilAllEnded(api: Api): Promise<void> {
    const deadline = Date.now() + SETTLE_MS;
    for (;;) {
      const open = await Promise.all(
        ['PENDING', 'RUNNING'].map(async (status) => {
          const { body } = await this.#insist(() => api.get(`/v1/tool_calls?status=${status}&limit=200`));
          return body['tool_calls'] as CallView[];
        }),
      );
      const left = open.flat();
      if (left.length === 0) return;
      await Promise.all(left.map((call) => this.#giveInput(api, call)));
      await Promise.all(left.map((call) => this.#approve(api, call)));
      if (Date.now() > deadline) {
        const names = left.map((call) => `${call.tool_call_id} (${call.tool_name}, ${call.state})`);
        this.history.violations.push(`still open after ${SETTLE_MS} ms: ${names.join(', ')}`);
        return;
      }
      await pause(100);
    }
  }

  async #giveInput(api: Api, { tool_call_id: id, input_request: request }: CallView): Promise<void> {
    if (request === undefined) return;
    const { status } = await this.#insist(() =>
      api.post(`/v1/tool_calls/${id}/input`, { id: request.id, content: 7 }),
    );
    if (status === 200) this.history.inputTaken(id, request.id, 7);
    else if (status !== 409) this.history.violations.push(`input for ${id} got ${status} at the end`);
  }

  async #approve(api: Api, { tool_call_id: id, state, approval }: CallView): Promise<void> {
    if (state !== 'APPROVAL_REQUIRED') return;
    const body = { decision: 'allow', digest: approval?.digest };
    const { status } = await this.#insist(() => api.post(`/v1/tool_calls/${id}/decision`, body));
    if (status === 200) this.history.decided(id, 'allow');
    else if (status !== 409) this.history.violations.push(`approving ${id} got ${status} at the end`);
  }

  async #mustBeThere(api: Api, id: string): Promise<void> {
    const before = this.history.known(id);
    const { status, body } = await this.#insist(() => api.get(`/v1/tool_calls/${id}`));
    if (status === 200) this.history.sawCall(body as unknown as CallView, before);
    else this.history.violations.push(`${id} was acknowledged, and reading it at the end got ${status}`);
  }
}
