import { isTerminal } from '@patchboard/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
import type { Call } from './call/call.ts';
import { verifyLedger } from './ledger/ledger-check.ts';
import type { Store } from './ports.ts';

/**
 * Anything that can happen to calls, in any order and while the store is still busy with what happened before: each
 * call reaches exactly one ending and keeps it, a result is accepted once, a tool that is not idempotent runs at most
 * once, and the ledger tells it all.
 */

const TOOLS = ['server.plain', 'server.idempotent', 'server.risky', 'client.tool'] as const;

type Operation =
  | { readonly kind: 'invoke'; readonly tool: (typeof TOOLS)[number]; readonly run: number }
  | {
      readonly kind: 'finish' | 'fail' | 'ack' | 'submit' | 'cancel' | 'approve' | 'deny';
      readonly which: number;
    }
  | { readonly kind: 'tick'; readonly ms: number }
  | { readonly kind: 'crash' }
  | { readonly kind: 'connect' }
  | { readonly kind: 'disconnect' };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('invoke' as const),
      tool: fc.constantFrom(...TOOLS),
      run: fc.nat({ max: 1 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'finish' as const,
        'fail' as const,
        'ack' as const,
        'submit' as const,
        'cancel' as const,
        'approve' as const,
        'deny' as const,
      ),
      which: fc.nat({ max: 20 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('tick' as const),
      ms: fc.constantFrom(100, 1000, 6000, 31_000, 61_000),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'connect' as const }, { kind: 'disconnect' as const }) },
);

/** `waits`: the next one comes when this one is over. */
const step = fc.record({ op: operation, waits: fc.boolean() });
/** How many turns of the event loop each result of the store takes; empty: the store returns at once. */
const turns = fc.array(fc.nat({ max: 3 }), { maxLength: 7, size: 'max' });

const agent = aPrincipal();
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

class World {
  readonly clock = new FakeClock();
  readonly durable: Store;
  readonly executions = new Map<string, number>();
  readonly accepted = new Map<string, number>();
  readonly endings = new Map<string, Call>();
  readonly ids: string[] = [];
  #running = new Map<string, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly #turns: readonly number[];
  readonly #errors: unknown[] = [];
  #idle: () => Promise<void> = settled;
  #fixture!: EngineFixture;
  #alive: Alive = { yes: true };
  #detach: (() => void) | null = null;

  constructor(durable: Store, delays: readonly number[]) {
    this.durable = durable;
    this.#turns = delays;
  }

  async start(): Promise<void> {
    this.#alive = { yes: true };
    this.#running = new Map();
    const tool = (name: string, annotations: object) =>
      aServerTool({
        name,
        annotations,
        execute: (_args, { callId }) => {
          this.executions.set(callId, (this.executions.get(callId) ?? 0) + 1);
          return new Promise((resolve, reject) => this.#running.set(callId, { resolve, reject }));
        },
      });
    const tools = [
      tool('server.plain', {}),
      tool('server.idempotent', { idempotent: true }),
      tool('server.risky', { destructive: true }),
    ];
    const delaying = this.#turns.length === 0 ? null : delayingStore(this.durable, this.#turns);
    this.#idle = delaying?.idle ?? settled;
    this.#fixture = await anEngine({
      tools,
      clock: mortalClock(this.clock, this.#alive),
      store: mortalStore(delaying?.store ?? this.durable, this.#alive),
    });
    if (this.#fixture.engine.toolIndex.find('default', 'client.tool') === undefined) {
      await this.#fixture.engine.clientTools.register('default', 'phone', [
        { name: 'client.tool', schema: {} },
      ]);
    }
  }

  async crash(): Promise<void> {
    this.#alive.yes = false;
    this.#detach = null;
    // A write that was sent is committed, or not, before another process opens the store.
    await this.#idle();
    await this.start();
  }

  /** Does not wait for it: what comes next meets it half done. */
  begin(op: Operation): void {
    this.apply(op).catch((error: unknown) => this.#errors.push(error));
  }

  async apply(op: Operation): Promise<void> {
    const { engine } = this.#fixture;
    if (op.kind === 'crash') return await this.crash();
    if (op.kind === 'tick') return await this.clock.advance(op.ms);
    if (op.kind === 'invoke') {
      const submitted = await engine.submit(aRequest({ toolName: op.tool, runId: `run_${op.run}` }), agent);
      if (submitted.kind === 'accepted') this.ids.push(submitted.call.id);
      return;
    }
    if (op.kind === 'connect') {
      this.#detach ??= engine.clientQueues.attach('default', 'phone', {
        deliver: () => {},
        withdraw: () => {},
      });
      return;
    }
    if (op.kind === 'disconnect') {
      this.#detach?.();
      this.#detach = null;
      return;
    }
    const id = this.ids[op.which % Math.max(1, this.ids.length)];
    if (id !== undefined) await this.#act(op.kind, id);
  }

  async #act(
    kind: 'finish' | 'fail' | 'ack' | 'submit' | 'cancel' | 'approve' | 'deny',
    id: string,
  ): Promise<void> {
    const { engine } = this.#fixture;
    switch (kind) {
      case 'finish':
        return this.#running.get(id)?.resolve('done');
      case 'fail':
        return this.#running.get(id)?.reject(new Error('boom'));
      case 'ack':
        await engine.clients.acknowledge(agent, id, null);
        return;
      case 'submit': {
        const result = {
          status: 'SUCCEEDED',
          result: this.accepted.size,
          error: null,
          attemptToken: null,
        } as const;
        const submitted = await engine.clients.submit(agent, id, result);
        if (submitted.ok && !submitted.repeated) this.accepted.set(id, (this.accepted.get(id) ?? 0) + 1);
        return;
      }
      case 'cancel':
        await engine.calls.cancel(agent, id);
        return;
      case 'approve':
      case 'deny': {
        const digest = (await engine.calls.find(agent, id))?.approval?.digest ?? '';
        await engine.calls.decide(operator, id, {
          decision: kind === 'approve' ? 'allow' : 'deny',
          digest,
          note: null,
        });
        return;
      }
    }
  }

  async check(): Promise<void> {
    await this.#idle();
    await settled();
    expect(this.#errors).toEqual([]);
    for (const id of this.ids) {
      const call = await this.durable.findCall(id);
      if (call === undefined) throw new Error(`acknowledged call ${id} is lost`);
      expect(await this.#fixture.engine.calls.find(agent, id)).toEqual(call);
      const before = this.endings.get(id);
      if (before !== undefined) expect(call).toEqual(before);
      if (isTerminal(call.state.name)) this.endings.set(id, call);
      if (call.toolName !== 'server.idempotent') expect(this.executions.get(id) ?? 0).toBeLessThanOrEqual(1);
      if (call.state.name === 'SEALED') expect(this.executions.get(id) ?? 1).toBeGreaterThanOrEqual(1);
      if (['APPROVAL_REQUIRED', 'DENIED'].includes(call.state.name))
        expect(this.executions.has(id)).toBe(false);
      if ('error' in call.state && call.state.error.outcome === 'not_started')
        expect(this.executions.has(id)).toBe(false);
      expect(this.accepted.get(id) ?? 0).toBeLessThanOrEqual(1);
    }
  }

  /** Everything ends by itself in the end, and the ledger holds one row for each move and verifies. */
  async finish(): Promise<void> {
    await this.crash();
    // An attempt whose record is still being written has no deadline yet that the clock could pass.
    await this.#idle();
    await this.clock.advance(700_000);
    await this.#idle();
    await this.crash();
    await this.check();
    const rows = await this.durable.readLedger({}, 0, 100_000);
    expect(await verifyLedger(this.durable, nodeDigest)).toMatchObject({ ok: true, rows: rows.length });
    for (const id of this.ids) {
      const call = this.endings.get(id);
      if (call === undefined) throw new Error(`call ${id} never ended`);
      const moves = rows.filter(({ row }) => row.callId === id && row.kind === 'call.state');
      expect(moves.map(({ row }) => (JSON.parse(row.body) as { state: string }).state)).toEqual(
        call.timeline.map((entry) => entry.state),
      );
      expect(call.timeline.filter((entry) => isTerminal(entry.state))).toHaveLength(1);
    }
  }
}

export interface EngineProperty {
  /** Opens an empty store; `close` is called after the run. */
  readonly open: () => Promise<Store>;
  readonly runs: number;
  /** Whether the results of the store always take some time. */
  readonly isRemote: boolean;
}

export function describeEngineProperty(name: string, { open, runs, isRemote }: EngineProperty): void {
  describe(`the engine on ${name}, under anything`, () => {
    it('keeps its promises', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), turns, async (steps, delays) => {
          const durable = await open();
          const world = new World(durable, isRemote ? [0, ...delays] : delays);
          await world.start();
          for (const { op, waits } of steps) {
            if (!waits && op.kind !== 'crash' && op.kind !== 'tick') {
              world.begin(op);
              continue;
            }
            await world.apply(op);
            await world.check();
          }
          await world.finish();
          await durable.close();
        }),
        // Runs on a remote store are slow: the first example that fails is reported as it is.
        { numRuns: runs, endOnFailure: isRemote },
      );
    }, 120_000);
  });
}
