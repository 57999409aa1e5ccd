import { isTerminal } from '@patchboard/wire';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  type EngineFixture,
} from '../../test/support/an-engine.ts';
import { delayingStore } from '../../test/support/delaying-store.ts';
import { FakeClock, settled } from '../../test/support/fake-clock.ts';
import { mortalClock, mortalStore, type Alive } from '../../test/support/mortal.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Call } from './call/call.ts';
import { InputRequired, openRequests } from './call/input.ts';
import type { Store } from './ports.ts';

/**
 * G23: tools ask, callers respond, decline, cancel, let requests expire, and the process crashes, in any order and while
 * the store is still busy: each request takes at most one response, only from its caller, and none after the end; a tool
 * runs only with responses that were taken; every call ends.
 */

const TOOLS = ['held', 'held.idempotent', 'returned'] as const;
const QUESTION = { message: 'How many?', schema: { type: 'integer' } } as const;

type Operation =
  | { readonly kind: 'invoke'; readonly tool: (typeof TOOLS)[number] }
  | {
      readonly kind: 'respond' | 'decline' | 'intrude' | 'misfit' | 'finish' | 'cancel';
      readonly which: number;
    }
  | { readonly kind: 'tick'; readonly ms: number }
  | { readonly kind: 'crash' };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('invoke' as const), tool: fc.constantFrom(...TOOLS) }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'respond' as const,
        'respond' as const,
        'respond' as const,
        'decline' as const,
        'intrude' as const,
        'misfit' as const,
        'finish' as const,
        'finish' as const,
        'cancel' as const,
      ),
      which: fc.nat({ max: 8 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('tick' as const), ms: fc.constantFrom(10, 4000, 60_001) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
);

const step = fc.record({ op: operation, waits: fc.boolean() });
const turns = fc.array(fc.nat({ max: 3 }), { maxLength: 7, size: 'max' });

const caller = aPrincipal();
const intruder = aPrincipal({ id: 'intruder', agentId: 'intruder' });

class World {
  readonly clock = new FakeClock();
  readonly durable: Store = memoryStore({ digest: nodeDigest });
  readonly ids: string[] = [];
  /** The contents that were accepted, by call and request. */
  readonly taken = new Map<string, number[]>();
  /** What tools were given, by call and request. */
  readonly seen: { readonly callId: string; readonly content: unknown }[] = [];
  readonly endings = new Map<string, Call>();
  readonly runs = new Map<string, number>();
  readonly #turns: readonly number[];
  #running = new Map<string, () => void>();
  #idle: () => Promise<void> = settled;
  #fixture!: EngineFixture;
  #alive: Alive = { yes: true };
  #nextContent = 0;

  constructor(delays: readonly number[]) {
    this.#turns = delays;
  }

  async start(): Promise<void> {
    const alive = { yes: true };
    this.#alive = alive;
    this.#running = new Map();
    const finished = (callId: string): Promise<string> =>
      new Promise((resolve) => this.#running.set(callId, () => resolve('done')));
    const held = (name: string, annotations: object) =>
      aServerTool({
        name,
        annotations,
        execute: async (_args, { callId, requestInput }) => {
          this.#count(callId);
          const content = await requestInput(QUESTION);
          if (alive.yes) this.seen.push({ callId, content });
          return await finished(callId);
        },
      });
    const returned = aServerTool({
      name: 'returned',
      execute: (_args, { callId, inputs, carried }) => {
        this.#count(callId);
        const { count } = inputs;
        if (count === undefined) return new InputRequired({ count: QUESTION }, 'carried');
        expect(carried).toBe('carried');
        this.seen.push({ callId, content: count.content });
        return finished(callId);
      },
    });
    const delaying = this.#turns.length === 0 ? null : delayingStore(this.durable, this.#turns);
    this.#idle = delaying?.idle ?? settled;
    this.#fixture = await anEngine({
      tools: [held('held', {}), held('held.idempotent', { idempotent: true }), returned],
      limits: { inputExpiryMs: 60_000, concurrencyPerRun: 2 },
      clock: mortalClock(this.clock, alive),
      store: mortalStore(delaying?.store ?? this.durable, alive),
    });
  }

  async apply(op: Operation): Promise<void> {
    const { engine } = this.#fixture;
    if (op.kind === 'tick') return await this.clock.advance(op.ms);
    if (op.kind === 'crash') {
      this.#alive.yes = false;
      return await this.start();
    }
    if (op.kind === 'invoke') {
      const submitted = await engine.submit(aRequest({ toolName: op.tool }), caller);
      if (submitted.kind === 'accepted') this.ids.push(submitted.call.id);
      return;
    }
    const id = this.ids[op.which % Math.max(1, this.ids.length)];
    if (id === undefined) return;
    if (op.kind === 'finish') this.#running.get(id)?.();
    else if (op.kind === 'cancel') await engine.calls.cancel(caller, id);
    else await this.#respond(op.kind, id);
  }

  /** Responds to the newest request, also if it has its response or the call has ended. */
  async #respond(kind: 'respond' | 'decline' | 'intrude' | 'misfit', callId: string): Promise<void> {
    const { engine } = this.#fixture;
    const call = await engine.calls.find(caller, callId);
    const id = call?.inputs.at(-1)?.id ?? 'in_1';
    const content = (this.#nextContent += 1);
    const given = {
      id,
      action: kind === 'decline' ? 'decline' : 'accept',
      content: kind === 'misfit' ? 'no number' : content,
    } as const;
    const result = await engine.calls.respond(kind === 'intrude' ? intruder : caller, callId, given);
    if (!result.ok) return;
    expect(kind === 'intrude' || kind === 'misfit').toBe(false);
    const key = `${callId} ${id}`;
    this.taken.set(key, [...(this.taken.get(key) ?? []), kind === 'decline' ? -1 : content]);
  }

  async check(): Promise<void> {
    await this.#idle();
    await settled();
    for (const id of this.ids) {
      const call = await this.durable.findCall(id);
      if (call === undefined) throw new Error(`acknowledged call ${id} is lost`);
      const before = this.endings.get(id);
      if (before !== undefined) expect(call).toEqual(before);
      if (isTerminal(call.state.name)) this.endings.set(id, call);
      for (const { id: request, response } of call.inputs) {
        const taken = this.taken.get(`${id} ${request}`) ?? [];
        expect(taken.length).toBeLessThanOrEqual(1);
        // A crash may lose the result of a response, but never the response.
        for (const content of taken)
          expect(response).toMatchObject(
            content === -1 ? { action: 'decline' } : { action: 'accept', contentJson: String(content) },
          );
      }
      if (call.state.name === 'INPUT_REQUIRED' && call.state.held) expect(openRequests(call).length).toBe(1);
      if (call.toolName === 'held') expect(this.runs.get(id) ?? 0).toBeLessThanOrEqual(1);
      // Once to ask, and once with the response.
      if (call.toolName === 'returned') expect(this.runs.get(id) ?? 0).toBeLessThanOrEqual(2);
    }
    for (const { callId, content } of this.seen) {
      const call = await this.durable.findCall(callId);
      expect(call?.inputs.map(({ response }) => response?.contentJson)).toContain(JSON.stringify(content));
    }
    const { executing } = this.#fixture.engine.load();
    expect(executing).toBeLessThanOrEqual(2);
  }

  async finish(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await this.clock.advance(200_000);
      await this.#idle();
      await settled();
    }
    // Everything has ended by its deadline, and no slot was released twice or never.
    expect(this.#fixture.engine.load()).toMatchObject({ open: 0, executing: 0, waitingForSlot: 0 });
    await this.apply({ kind: 'crash' });
    await this.clock.advance(200_000);
    await this.check();
    expect(this.endings.size).toBe(this.ids.length);
    expect(this.#fixture.engine.load()).toMatchObject({ open: 0, executing: 0, waitingForSlot: 0 });
  }

  #count(callId: string): void {
    this.runs.set(callId, (this.runs.get(callId) ?? 0) + 1);
  }
}

it('takes each input once, only from the caller, never after the end, and ends every call', async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), turns, async (steps, delays) => {
      const world = new World(delays);
      await world.start();
      const overlapping: Promise<void>[] = [];
      for (const { op, waits } of steps) {
        const applied = world.apply(op);
        if (!waits && op.kind !== 'crash' && op.kind !== 'tick') {
          overlapping.push(applied);
          continue;
        }
        await applied;
        await world.check();
      }
      // What a crash cut off never settles.
      await Promise.race([Promise.all(overlapping), settled()]);
      await world.finish();
      taken += world.taken.size;
    }),
    { numRuns: 100 },
  );
  expect(taken).toBeGreaterThan(20);
}, 120_000);
