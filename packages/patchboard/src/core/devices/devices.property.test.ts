import { isTerminal } from '@patchboard/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, type EngineFixture } from '../../../test/support/an-engine.ts';
import { delayingStore } from '../../../test/support/delaying-store.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { attemptsOf, type Call } from '../call/call.ts';
import type { InputRound } from '../call/input.ts';
import { lastResponse } from './client-inputs.ts';
import type { Device, DeviceLink } from './device.ts';
import { parseRequestId, requestId } from './request-id.ts';

/**
 * Devices connect, disconnect, resume and overlap in any order while calls are made. Invariants: a tool is listed exactly
 * while a device offers it, a result is accepted at most once, a call that is not idempotent is sent at most once unless
 * the device reports that it never arrived, every call has ended after its timeout, an input request is recorded once, its
 * response is taken once, and a connected device has the response.
 */

const TOOLS = ['plain', 'again'] as const;
const GRACE_MS = 1000;
const TIMEOUT_MS = 5000;
const EXPIRY_MS = 4000;
const LAST_MS = TIMEOUT_MS + GRACE_MS + 1000;

type Operation =
  | {
      readonly kind: 'connect';
      readonly name: number;
      readonly resumes: boolean;
      readonly says: boolean;
      readonly isDeaf: boolean;
    }
  | { readonly kind: 'offer' | 'takeBack'; readonly which: number; readonly tool: number }
  | { readonly kind: 'lose' | 'leave'; readonly which: number }
  | { readonly kind: 'call'; readonly tool: number; readonly run: number }
  | { readonly kind: 'result'; readonly which: number; readonly value: number }
  | { readonly kind: 'ask'; readonly which: number; readonly key: number }
  | { readonly kind: 'respond'; readonly which: number; readonly accepts: boolean }
  | { readonly kind: 'cancel'; readonly which: number }
  | { readonly kind: 'tick'; readonly ms: number };

const which = fc.nat({ max: 30 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('connect' as const),
      name: fc.nat({ max: 2 }),
      resumes: fc.boolean(),
      says: fc.boolean(),
      // True: messages to the device are lost.
      isDeaf: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('offer' as const, 'offer' as const, 'takeBack' as const),
      which,
      tool: fc.nat({ max: 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('lose' as const, 'leave' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      tool: fc.nat({ max: 1 }),
      run: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('result' as const), which, value: fc.nat({ max: 2 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), which, key: fc.nat({ max: 2 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('respond' as const), which, accepts: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('tick' as const), ms: fc.constantFrom(50, 500, 1100, 6000) }),
  },
);

/** One device offers both tools from the start. */
const BEGIN: readonly Operation[] = [
  { kind: 'connect', name: 0, resumes: false, says: true, isDeaf: false },
  { kind: 'offer', which: 0, tool: 0 },
  { kind: 'offer', which: 0, tool: 1 },
];

const DECLINED = { action: 'decline', content: null } as const;

/** The device's end of a connection. */
class FakeDevice implements DeviceLink {
  readonly world: World;
  readonly name: string;
  readonly isDeaf: boolean;
  /** Call and id of each response that it received. */
  readonly received: Set<string> = new Set();
  device: Device | null = null;

  constructor(world: World, name: string, isDeaf: boolean) {
    this.world = world;
    this.name = name;
    this.isDeaf = isDeaf;
  }

  request(call: Call): void {
    if (!this.isDeaf) this.world.sent(requestId(call), this.name);
  }

  cancel(): void {
    // A real device would stop working; no invariant depends on it.
  }

  inputGiven(call: Call, { id, attempt, response }: InputRound): void {
    expect(response, 'a response').not.toBeNull();
    expect(attempt, 'the attempt that asked').toBe(attemptsOf(call));
    expect(this.world.has.get(this.name)?.has(requestId(call)), 'the device that asked').toBe(true);
    this.received.add(`${call.id} ${id}`);
  }

  replaced(): void {
    this.device = null;
  }
}

class World {
  readonly fixture: EngineFixture;
  readonly connections: FakeDevice[] = [];
  readonly ids: string[] = [];
  readonly requests: string[] = [];
  readonly accepted: Map<string, number> = new Map();
  /** The input request of each key of an attempt. */
  readonly asked: Map<string, string> = new Map();
  /** Call and id of each input request that has its response. */
  readonly given: Set<string> = new Set();
  /** How often each attempt reached a device. */
  readonly deliveries: Map<string, number> = new Map();
  /** By device name: the requests that arrived and were not cancelled. */
  readonly has: Map<string, Set<string>> = new Map();

  constructor(fixture: EngineFixture) {
    this.fixture = fixture;
  }

  sent(id: string, name: string): void {
    this.requests.push(id);
    const held = this.has.get(name) ?? new Set();
    this.has.set(name, held);
    this.deliveries.set(id, (this.deliveries.get(id) ?? 0) + 1);
    held.add(id);
  }

  async apply(step: Operation): Promise<void> {
    const { engine, clock } = this.fixture;
    switch (step.kind) {
      case 'connect':
        this.#connect(step);
        break;
      case 'offer':
      case 'takeBack': {
        const connection = this.#pick(step.which);
        const tool = TOOLS[step.tool] ?? 'plain';
        if (connection === undefined || connection.device === null) break;
        if (step.kind === 'takeBack') await engine.devices.takeBack(connection.device, [tool]);
        else await this.#offer(connection.device, tool);
        break;
      }
      case 'lose':
      case 'leave': {
        const connection = this.#pick(step.which);
        if (connection === undefined || connection.device === null) break;
        engine.devices.disconnect(connection.device, step.kind === 'lose' ? 'lost' : 'left');
        connection.device = null;
        break;
      }
      case 'call': {
        const request = aRequest({ toolName: TOOLS[step.tool] ?? 'plain', runId: `run_${step.run}` });
        const submitted = await engine.submit(request, aPrincipal());
        if (submitted.kind === 'accepted') this.ids.push(submitted.call.id);
        break;
      }
      case 'result':
        await this.#submit(step.which, step.value);
        break;
      case 'ask':
        await this.#ask(step.which, step.key);
        break;
      case 'respond':
        await this.#respond(step.which, step.accepts);
        break;
      case 'cancel': {
        const id = this.ids[step.which % Math.max(1, this.ids.length)];
        if (id !== undefined) await engine.calls.cancel(aPrincipal(), id);
        break;
      }
      case 'tick':
        await clock.advance(step.ms);
        break;
    }
    await settled();
    this.#checkRegistry();
    this.#checkResponses();
  }

  /** Advances the clock until every call must have ended. */
  async end(): Promise<void> {
    await this.fixture.clock.advance(LAST_MS);
    for (const id of this.ids) {
      const call = await this.fixture.store.findCall(id);
      expect(call !== undefined && isTerminal(call.state.name), `${id} ended`).toBe(true);
      expect(this.accepted.get(id) ?? 0).toBeLessThanOrEqual(1);
      if (call?.state.name === 'COMPLETED') expect(this.accepted.get(id)).toBe(1);
      this.#checkDeliveries(call!);
    }
  }

  #checkDeliveries(call: Call): void {
    const attempts = [...this.deliveries].filter(([id]) => id.startsWith(`${call.id}:`));
    for (const [id, times] of attempts) expect(times, id).toBe(1);
    if (call.toolName === 'plain') expect(attempts.length, call.id).toBeLessThanOrEqual(1);
    const neverStarted = 'error' in call.state && call.state.error.outcome === 'not_started';
    if (neverStarted) expect(attempts, call.id).toEqual([]);
  }

  #connect({ name: number, resumes, says, isDeaf }: Extract<Operation, { kind: 'connect' }>): void {
    const name = `device-${number}`;
    const link = new FakeDevice(this, name, isDeaf);
    const earlier = this.connections.findLast((connection) => connection.name === name);
    const token = this.#tokens.get(name) ?? null;
    link.device = this.fixture.engine.devices.connect({
      tenant: 'default',
      clientId: 'phones',
      name,
      link,
      mayResume: true,
      resume: resumes ? token : null,
      holding: says ? [...(this.has.get(name) ?? [])] : null,
      greet: (device) => {
        if (device.resumeToken !== null) this.#tokens.set(name, device.resumeToken);
      },
    });
    if (resumes && earlier !== undefined && earlier.device !== null && earlier.device.link === null) {
      earlier.device = null;
    }
    this.connections.push(link);
  }

  readonly #tokens: Map<string, string> = new Map();

  async #offer(device: Device, tool: string): Promise<void> {
    const { engine } = this.fixture;
    const annotations = { idempotent: tool === 'again' };
    const report = await engine.devices.offer(device, [
      { name: tool, schema: {}, timeout_ms: TIMEOUT_MS, annotations },
    ]);
    engine.devices.sendWaiting(device, report.registered);
  }

  async #submit(which: number, value: number): Promise<void> {
    const id = this.requests[which % Math.max(1, this.requests.length)];
    const parsed = id === undefined ? null : parseRequestId(id);
    if (parsed === null) return;
    const principal = aPrincipal({ clientId: 'phones' });
    const result = {
      status: 'SUCCEEDED',
      result: value,
      error: null,
      attemptToken: parsed.attemptToken,
    } as const;
    const submitted = await this.fixture.engine.clients.submit(principal, parsed.callId, result);
    if (submitted.ok && !submitted.repeated) {
      this.accepted.set(parsed.callId, (this.accepted.get(parsed.callId) ?? 0) + 1);
    }
  }

  async #ask(which: number, key: number): Promise<void> {
    const id = this.requests[which % Math.max(1, this.requests.length)];
    const parsed = id === undefined ? null : parseRequestId(id);
    if (parsed === null) return;
    const { callId, attemptToken } = parsed;
    const given = { key: `k${key}`, attemptToken, request: { message: 'Really?' } };
    const asked = await this.fixture.engine.clientInputs.request(
      aPrincipal({ clientId: 'phones' }),
      callId,
      given,
    );
    if (!asked.ok) return;
    const name = `${id} ${given.key}`;
    expect(this.asked.get(name) ?? asked.round.id, 'asked once').toBe(asked.round.id);
    this.asked.set(name, asked.round.id);
  }

  async #respond(which: number, accepts: boolean): Promise<void> {
    const { engine } = this.fixture;
    const id = this.ids[which % Math.max(1, this.ids.length)];
    const call = id === undefined ? undefined : await engine.calls.find(aPrincipal(), id);
    const round = call?.inputs.at(-1);
    if (id === undefined || round === undefined) return;
    const response = accepts ? ({ action: 'accept', content: {} } as const) : DECLINED;
    const taken = await engine.calls.respond(aPrincipal(), id, { id: round.id, ...response });
    if (!taken.ok) return;
    expect(this.given.has(`${id} ${round.id}`), 'taken once').toBe(false);
    this.given.add(`${id} ${round.id}`);
  }

  /** A connected device has received the last response to each of its calls. */
  #checkResponses(): void {
    for (const { device, isDeaf, received } of this.connections) {
      if (device === null || device.link === null || isDeaf) continue;
      for (const { call } of device.calls) {
        const round = lastResponse(call);
        if (round !== null) expect(received, 'the responses').toContain(`${call.id} ${round.id}`);
      }
    }
  }

  #checkRegistry(): void {
    const { toolIndex, devices } = this.fixture.engine;
    for (const tool of TOOLS) {
      const offered = devices.of('default').some(({ link, tools }) => link !== null && tools.has(tool));
      expect(toolIndex.find('default', tool) !== undefined, `${tool} is listed`).toBe(offered);
    }
    for (const { calls } of devices.of('default')) {
      for (const live of calls)
        expect(isTerminal(live.call.state.name), 'no device holds an ended call').toBe(false);
    }
  }

  #pick(which: number): FakeDevice | undefined {
    const open = this.connections.filter(({ device }) => device !== null);
    return open[which % Math.max(1, open.length)];
  }
}

describe('devices that come and go', () => {
  it(
    'lose nothing, do nothing twice and leave nothing open, in any order of events',
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(operation, { minLength: 10, maxLength: 60, size: 'max' }),
          // Delay of each store operation in turns of the event loop; empty: no delay.
          fc.array(fc.nat({ max: 3 }), { maxLength: 7 }),
          async (steps, turns) => {
            const memory = memoryStore({ digest: nodeDigest });
            const store = turns.length === 0 ? memory : delayingStore(memory, turns).store;
            const world = new World(
              await anEngine({ store, limits: { deviceGraceMs: GRACE_MS, inputExpiryMs: EXPIRY_MS } }),
            );
            for (const step of [...BEGIN, ...steps]) await world.apply(step);
            await world.end();
          },
        ),
        { numRuns: 100 },
      );
    },
  );
});

describe('the id of a request', () => {
  it('round-trips, and no other text parses', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseRequestId(text);
        if (parsed !== null) expect(`${parsed.callId}:${parsed.attemptToken}`).toBe(text);
      }),
    );
    expect(parseRequestId('tc_01m7exhay0:3.Q6kkd7wjp2iMpCUjgNFjKQ')).toEqual({
      callId: 'tc_01m7exhay0',
      attemptToken: '3.Q6kkd7wjp2iMpCUjgNFjKQ',
    });
    for (const text of [
      '',
      'tc_',
      'tc_1',
      'tc_1:',
      'tc_1:1',
      'tc_1:1.',
      'x:1.a',
      'tc_1:1.a:b',
      ' tc_1:1.a',
    ]) {
      expect(parseRequestId(text), text).toBeNull();
    }
  });
});
