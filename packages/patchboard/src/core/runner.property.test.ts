import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { delayingStore } from '../../test/support/delaying-store.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Call } from './call/call.ts';
import type { Engine } from './engine.ts';

/**
 * Calls start, finish, fail, are cancelled, approved and denied in any order: no run ever has more than three under
 * way, no `concurrent: false` tool more than one, what waits for approval holds no slot, and every wait ends.
 */

const TOOLS = ['plain', 'readonly', 'single', 'risky'] as const;
const RUNS = ['run_a', 'run_b'] as const;
const PER_RUN = 3;
const PER_SERVER = 5;

type Operation =
  | { readonly kind: 'start'; readonly tool: (typeof TOOLS)[number]; readonly run: (typeof RUNS)[number] }
  | { readonly kind: 'finish' | 'fail' | 'cancel' | 'approve' | 'deny'; readonly which: number };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      tool: fc.constantFrom(...TOOLS),
      run: fc.constantFrom(...RUNS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'finish' as const,
        'fail' as const,
        'cancel' as const,
        'approve' as const,
        'deny' as const,
      ),
      which: fc.nat({ max: 30 }),
    }),
  },
);

/** `waits`: the next one comes when this one is over. */
const step = fc.record({ op: operation, waits: fc.boolean() });
const turns = fc.array(fc.nat({ max: 3 }), { maxLength: 7, size: 'max' });

const agent = aPrincipal();
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const HOUR_MS = 3_600_000;

interface Running {
  readonly tool: string;
  readonly run: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

class World {
  /** What is inside a tool right now, by call. */
  readonly running = new Map<string, Running>();
  readonly ids: string[] = [];
  readonly ended = new Map<string, Call>();
  readonly #waits: Promise<void>[] = [];
  #idle: () => Promise<void> = settled;
  #engine!: Engine;

  /** `turns`: how many turns of the event loop each result of the store takes; empty: it returns at once. */
  async open(turns: readonly number[]): Promise<void> {
    const memory = memoryStore({ digest: nodeDigest });
    const delaying = turns.length === 0 ? null : delayingStore(memory, turns);
    this.#idle = delaying?.idle ?? settled;
    const tool = (name: string, given: object) =>
      aServerTool({
        name,
        timeoutMs: HOUR_MS,
        execute: (_args, { callId, runId, signal }) =>
          new Promise((resolve, reject) => {
            this.running.set(callId, { tool: name, run: runId, resolve, reject });
            signal.addEventListener('abort', () => this.running.delete(callId));
          }),
        ...given,
      });
    const limits = { concurrencyPerRun: PER_RUN, concurrencyServer: PER_SERVER, queueWaitMs: HOUR_MS };
    const fixture = await anEngine({
      store: delaying?.store ?? memory,
      limits: { ...limits, approvalExpiryMs: HOUR_MS },
      tools: [
        tool('plain', {}),
        tool('readonly', { annotations: { readonly: true } }),
        tool('single', { concurrency: 1 }),
        tool('risky', { annotations: { destructive: true } }),
      ],
    });
    this.#engine = fixture.engine;
  }

  async apply(op: Operation): Promise<void> {
    if (op.kind === 'start') {
      const submitted = await this.#engine.submit(aRequest({ toolName: op.tool, runId: op.run }), agent);
      if (submitted.kind !== 'accepted') throw new Error(submitted.kind);
      const { id } = submitted.call;
      this.ids.push(id);
      this.#waits.push(
        (async () => {
          const call = await this.#engine.calls.wait(agent, id, 10 * HOUR_MS);
          if (call !== undefined) this.ended.set(id, call);
        })(),
      );
      return;
    }
    const id = this.ids[op.which % Math.max(1, this.ids.length)];
    if (id !== undefined) await this.#act(op.kind, id);
  }

  async #act(kind: Exclude<Operation['kind'], 'start'>, id: string): Promise<void> {
    const work = this.running.get(id);
    switch (kind) {
      case 'finish':
      case 'fail':
        this.running.delete(id);
        return kind === 'finish' ? work?.resolve('done') : work?.reject(new Error('boom'));
      case 'cancel':
        await this.#engine.calls.cancel(agent, id);
        return;
      case 'approve':
      case 'deny': {
        const digest = (await this.#engine.calls.find(agent, id))?.approval?.digest ?? '';
        const decision = kind === 'approve' ? 'allow' : 'deny';
        await this.#engine.calls.decide(operator, id, { decision, digest, note: null });
      }
    }
  }

  async check(): Promise<void> {
    await this.#idle();
    await settled();
    const running = [...this.running.values()];
    for (const run of RUNS)
      expect(running.filter((work) => work.run === run).length).toBeLessThanOrEqual(PER_RUN);
    expect(running.length).toBeLessThanOrEqual(PER_SERVER);
    expect(running.filter(({ tool }) => tool === 'single').length).toBeLessThanOrEqual(1);
    const { executing, waitingForApproval, waitingForSlot, open } = this.#engine.load();
    // Only calls inside a tool hold slots.
    expect(executing).toBe(running.length);
    expect(executing + waitingForApproval + waitingForSlot).toBe(open);
    expect(this.ended.size).toBe(this.ids.length - open);
    // No call waits for a slot that is free.
    if (waitingForSlot > 0) expect(this.#isFull(running)).toBe(true);
  }

  async finish(): Promise<void> {
    for (const id of this.ids) await this.#act('deny', id);
    // What was released last may not be inside its tool yet.
    await this.check();
    while (this.running.size > 0) {
      for (const id of this.running.keys()) await this.#act('finish', id);
      await this.check();
    }
    await Promise.all(this.#waits);
    expect(this.ended.size).toBe(this.ids.length);
  }

  #isFull(running: readonly Running[]): boolean {
    const fullRun = RUNS.some((run) => running.filter((work) => work.run === run).length === PER_RUN);
    return running.length === PER_SERVER || fullRun || running.some(({ tool }) => tool === 'single');
  }
}

it('never exceeds a limit, never holds a slot for an approval, and ends every wait', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), turns, async (steps, delays) => {
      const world = new World();
      await world.open(delays);
      const overlapping: Promise<void>[] = [];
      for (const { op, waits } of steps) {
        const applied = world.apply(op);
        if (!waits) {
          overlapping.push(applied);
          continue;
        }
        await applied;
        await Promise.all(overlapping.splice(0));
        await world.check();
      }
      await Promise.all(overlapping.splice(0));
      await world.finish();
    }),
    { numRuns: 100 },
  );
}, 120_000);
