import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import { verifyLedger } from '../../core/ledger/ledger-check.ts';
import type { LedgerRow } from '../../core/ledger/ledger.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { timeOrderedIds } from '../../runtime/ids.ts';
import { memoryStore } from './memory-store.ts';

const TOOLS = ['works', 'waits', 'throws', 'risky', 'unknown'] as const;

type Step =
  | {
      readonly kind: 'invoke';
      readonly tool: (typeof TOOLS)[number];
      readonly args: Record<string, unknown>;
      readonly traceId?: string;
      readonly origin?: { readonly siteId: string };
    }
  | { readonly kind: 'cancel' | 'allow' | 'deny'; readonly which: number }
  | { readonly kind: 'tick'; readonly ms: number }
  | { readonly kind: 'purge' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        kind: fc.constant('invoke' as const),
        tool: fc.constantFrom(...TOOLS),
        args: fc.dictionary(fc.constantFrom('password', 'city', 'n'), fc.jsonValue({ maxDepth: 1 })),
        traceId: fc.string({ maxLength: 8 }),
        origin: fc.record({ siteId: fc.string({ maxLength: 8 }) }),
      },
      { requiredKeys: ['kind', 'tool', 'args'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel' as const, 'allow' as const, 'deny' as const),
      which: fc.nat({ max: 10 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('tick' as const), ms: fc.constantFrom(10, 6000, 700_000) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'purge' as const }) },
);

const agent = aPrincipal();
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

/** An engine whose ids and times depend on the steps only: two of them write the same ledger. */
async function repeatable(): Promise<EngineFixture> {
  const clock = new FakeClock();
  const ids = timeOrderedIds(clock, { fill: (bytes) => void bytes.fill(7), next: () => 0.5 });
  // Few calls are retained, so that rows outlive their calls.
  const store = memoryStore({ digest: nodeDigest, retain: 2 });
  const tools = [
    aServerTool({ name: 'works', execute: (args) => ({ echo: args }) }),
    aServerTool({ name: 'waits', execute: () => new Promise(() => {}) }),
    aServerTool({ name: 'throws', execute: () => Promise.reject(new Error('boom')) }),
    aServerTool({ name: 'risky', annotations: { destructive: true } }),
  ];
  return await anEngine({ tools, clock, ids, store, redact: ['password'] });
}

async function apply({ engine, clock, store }: EngineFixture, steps: readonly Step[]): Promise<void> {
  const made: string[] = [];
  for (const given of steps) {
    if (given.kind === 'tick') await clock.advance(given.ms);
    else if (given.kind === 'purge') await store.purgeCalls(clock.now(), 10);
    else if (given.kind === 'invoke') {
      const { kind: _kind, tool, ...rest } = given;
      const submitted = await engine.submit(aRequest({ toolName: tool, ...structuredClone(rest) }), agent);
      if (submitted.kind === 'accepted') made.push(submitted.call.id);
    } else {
      const id = made[given.which % Math.max(1, made.length)] ?? '';
      if (given.kind === 'cancel') await engine.calls.cancel(agent, id);
      else {
        const digest = (await engine.calls.find(agent, id))?.approval?.digest ?? '';
        await engine.calls.decide(operator, id, { decision: given.kind, digest, note: null });
      }
    }
    await settled();
  }
}

/** All members, also those that are getters. */
function copyOf({ seq, at, tenant, kind, callId, traceId, body, hash }: LedgerRow): LedgerRow {
  return { seq, at, tenant, kind, callId, traceId, body, hash };
}

it('reads the same ledger row for row whether its rows are read at their commit or at the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
      const eager = await repeatable();
      const atCommit: LedgerRow[] = [];
      eager.store.watch(({ row }) => atCommit.push(copyOf(row)));
      await apply(eager, steps);

      const lazy = await repeatable();
      await apply(lazy, steps);

      const atEnd = await lazy.store.readLedger({}, 0, 10_000);
      expect(atEnd.map(({ row }) => copyOf(row))).toEqual(atCommit);
      expect(await verifyLedger(lazy.store, nodeDigest)).toMatchObject({ ok: true, rows: atCommit.length });
    }),
  );
});

it('hashes the arguments as they were before they were redacted and the call was dropped', async () => {
  const args = { city: 'Paris', password: 'hunter2' };
  const fixture = await repeatable();
  await apply(
    fixture,
    ['works', 'works', 'works', 'works'].map((tool) => ({ kind: 'invoke', tool, args }) as Step),
  );
  const [first] = await fixture.store.readLedger({ kinds: ['call.state'] }, 0, 1);
  expect(first?.call).toBeNull();
  expect(JSON.parse(first?.row.body ?? '')).toMatchObject({
    state: 'PENDING',
    args_sha256: nodeDigest.sha256(JSON.stringify(args)),
  });
});
