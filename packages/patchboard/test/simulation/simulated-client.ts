import type { ToolSpec } from '@patchboard/wire';
import type { Principal } from '../../src/core/access/principal.ts';
import type { Call } from '../../src/core/call/call.ts';
import { responseOf } from '../../src/core/call/input.ts';
import type { ClientResult } from '../../src/core/devices/client-results.ts';
import { attemptToken } from '../../src/core/devices/request-id.ts';
import { nextRequests } from '../../src/transports/internal-api/requests.ts';
import { gotAnswer, QUESTION } from './actors/asking-tools.ts';
import { clientPrincipal } from './actors/principals.ts';
import type { Operation, Reply } from './simulated-network.ts';
import type { World } from './world.ts';

interface ClientArgs {
  readonly n: number;
  readonly ms: number;
  readonly ends: 'ok' | 'fails';
  /** `stale`: first with the token of another attempt. `other`: also a second, different result. */
  readonly reports: 'once' | 'twice' | 'other' | 'stale' | 'never';
  /** Whether the client acknowledges a call before it begins. */
  readonly acknowledges: boolean;
}

const POLL_MS = 2000;
const GIVE_UP_MS = 3000;
const PAUSE_MS = 300;
const MAX_TRIES = 8;

/** A client that registers its tools over HTTP, polls its queue, and runs each call once. */
export class SimulatedClient {
  readonly #world: World;
  readonly #id: string;
  readonly #tools: readonly ToolSpec[];
  readonly #principal: Principal;
  /** Requests that it has received. */
  readonly #seen: Set<string> = new Set();

  constructor(world: World, id: string, tools: readonly ToolSpec[]) {
    this.#world = world;
    this.#id = id;
    this.#tools = tools;
    this.#principal = clientPrincipal(id);
  }

  get id(): string {
    return this.#id;
  }

  /** Receives a call, and runs it if it has not received it before. What it reports may reach another node. */
  take(from: string, node: number, call: Call): void {
    const request = `${call.id}:${attemptToken(call)}`;
    if (this.#seen.has(request)) return;
    this.#seen.add(request);
    this.#world.track({ id: `${from} ${call.id}` }, this.#run(`${from}.${call.id}`, node, call));
  }

  async register(from: string, node: number): Promise<void> {
    await this.#request(from, node, async (engine) =>
      engine.clientTools.register('default', this.#id, this.#tools),
    );
  }

  /** Polls at a node until `untilMs`, in simulated time. */
  async work(from: string, node: number, untilMs: number): Promise<void> {
    await this.register(from, node);
    while (this.#world.kernel.now < untilMs) {
      const reply = await this.#world.request(
        from,
        this.#world.node(node),
        POLL_MS + GIVE_UP_MS,
        (engine, gone) => this.#poll(engine, gone, node),
      );
      if (reply.kind !== 'reply') await this.#world.kernel.sleep(PAUSE_MS);
      else for (const call of reply.value) this.take(from, node, call);
    }
  }

  async #poll(engine: Parameters<Operation<unknown>>[0], gone: AbortSignal, node: number): Promise<Call[]> {
    const queue = { tenant: 'default', clientId: this.#id };
    await engine.callsElsewhere.collect(queue.tenant, queue.clientId);
    const waiting = engine.clientQueues.unacknowledged(queue.tenant, queue.clientId);
    const incarnation = this.#world.node(node).incarnations.find((one) => one.engine === engine);
    if (waiting.length > 0 || incarnation === undefined) return waiting;
    return await nextRequests({ engine, clock: incarnation.process.clock }, queue, POLL_MS, gone);
  }

  async #run(from: string, node: number, call: Call): Promise<void> {
    const { id, toolName: tool } = call;
    const args = JSON.parse(call.argsJson) as ClientArgs;
    const token = attemptToken(call);
    if (args.acknowledges) {
      const reply = await this.#request(from, node, (engine) =>
        engine.clients.acknowledge(this.#principal, id, token),
      );
      if (reply?.ok !== true) return;
    }
    const effect = { tool, callId: id, attempt: Number.parseInt(token, 10), args };
    this.#world.effects.begin({ name: this.#id }, effect);
    const answers = tool.endsWith('.asks') ? await this.#ask(from, node, id, token) : undefined;
    if (answers === null) return;
    await this.#world.kernel.sleep(args.ms);
    this.#world.effects.act({ name: this.#id }, effect);
    const output = answers === undefined ? { n: args.n } : { n: args.n, answers };
    await this.#report(from, node, id, token, args, output);
  }

  /** Returns null if the call ended meanwhile. */
  async #ask(from: string, node: number, id: string, token: string): Promise<readonly unknown[] | null> {
    const given = { key: 'k', attemptToken: token, request: QUESTION };
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const asked = await this.#request(from, node, (engine, signal) =>
        engine.clientInputs.requestAndWait(this.#principal, id, given, POLL_MS, { signal }),
      );
      if (asked?.ok !== true) return null;
      const { response } = asked.round;
      if (response === null) continue;
      const { answer = null } = (responseOf(response).content ?? {}) as { readonly answer?: unknown };
      if (answer !== null) gotAnswer(this.#world, this.#id, id, answer);
      return [answer];
    }
    return null;
  }

  async #report(
    from: string,
    node: number,
    id: string,
    token: string,
    { n, ends, reports }: ClientArgs,
    output: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    if (reports === 'never') return;
    const first: ClientResult =
      ends === 'ok'
        ? { status: 'SUCCEEDED', result: output, error: null, attemptToken: token }
        : { status: 'FAILED', result: null, error: { message: `tool ${n} fails` }, attemptToken: token };
    if (reports === 'stale')
      await this.#submit(from, node, id, { ...first, attemptToken: `9.${token.slice(2)}` });
    await this.#submit(from, node, id, first);
    if (reports === 'twice') await this.#submit(from, node, id, first);
    if (reports === 'other')
      await this.#submit(from, node, id, {
        ...first,
        status: 'SUCCEEDED',
        result: { ...output, other: true },
      });
  }

  async #submit(from: string, node: number, id: string, given: ClientResult): Promise<void> {
    const output = given.status === 'SUCCEEDED' ? JSON.stringify(given.result) : 'error';
    const facts = { call: id, request: `${id}:${given.attemptToken}`, output };
    this.#world.history.add(this.#id, 'result sent', facts);
    const reply = await this.#request(from, node, (engine) =>
      engine.clients.submit(this.#principal, id, given),
    );
    if (reply === null) return;
    const duplicate = reply.ok && reply.repeated;
    this.#world.history.add(this.#id, 'result acknowledged', { ...facts, accepted: reply.ok, duplicate });
  }

  /** Requests of one client reach several nodes. */
  #step(from: string): number {
    return this.#world.nodes.length > 1 ? this.#world.random.of('client', from).integer(0, 1) : 0;
  }

  /** Sends a request again until there is a response; null if there is none after many. */
  async #request<Value>(from: string, node: number, operation: Operation<Value>): Promise<Value | null> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const reply: Reply<Value> = await this.#world.request(
        from,
        this.#world.node(node + this.#step(from)),
        POLL_MS + GIVE_UP_MS,
        operation,
      );
      if (reply.kind === 'reply') return reply.value;
      if (reply.kind === 'error') this.#world.history.add(from, 'error', { ...reply, kind: 'client' });
      await this.#world.kernel.sleep(PAUSE_MS);
    }
    return null;
  }
}
