import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallIndexWriter, CallSearch, FoundCall, LargestSeries } from '../core/search/call-search.ts';
import { GROUPS_PER_BUCKET, OTHER_NAME } from '../core/search/metric-groups.ts';
import { aBatch, aRefusal, endedCall, endedCalls } from './search-samples.contract.ts';

export interface OpenedIndex {
  readonly search: CallSearch;
  readonly writer: CallIndexWriter;
  /** Opens what was written again, as after a restart. */
  readonly reopen: () => Promise<{ readonly search: CallSearch; readonly writer: CallIndexWriter }>;
  readonly cleanup: () => Promise<void>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TIMES = { waitedMs: 5, ranMs: 20 };

/** The contract tests of the `CallIndexWriter` port. */
export function indexWriterContract(name: string, open: () => Promise<OpenedIndex>): void {
  describe(`index writer of ${name}`, () => {
    let opened: OpenedIndex;

    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened.cleanup();
    });

    const found = async ({ search }: Pick<OpenedIndex, 'search'> = opened): Promise<readonly FoundCall[]> =>
      await search.find({ tenant: 'acme' }, { by: 'created', isAscending: true }, null, 1000);

    it('applies a batch exactly once, and continues after a restart', async () => {
      const { writer, search } = opened;
      const calls = endedCalls(20).map((call) => ({ ...call, tenant: 'acme' }));
      expect(await writer.acquireLease()).toMatchObject({ seq: 0 });
      expect(await writer.apply(aBatch(0, calls.slice(0, 10)))).toBe(true);
      expect(await writer.apply(aBatch(0, calls.slice(0, 10)))).toBe(false);
      expect(await writer.apply(aBatch(11, calls.slice(11)))).toBe(false);
      expect(await found()).toHaveLength(10);
      expect(await search.position()).toBe(10);
      await writer.release();

      const again = await opened.reopen();
      expect(await again.search.position()).toBe(10);
      expect(await again.writer.acquireLease()).toEqual({ seq: 10, hash: 'hash 10' });
      expect(await again.writer.apply(aBatch(10, calls.slice(10)))).toBe(true);
      expect(await found(again)).toEqual(calls.map(({ id, createdAt: value }) => ({ id, value })));
      expect(await countOf(again.search)).toBe(20);
    });

    it('advances over rows that add nothing', async () => {
      const { writer, search } = opened;
      await writer.acquireLease();
      const to = { seq: 7, hash: 'h7' };
      expect(await writer.apply({ from: 0, to, calls: [], refusals: [], hasMore: false })).toBe(true);
      expect(await search.position()).toBe(7);
    });

    it('is empty after it was cleared', async () => {
      const { writer, search } = opened;
      await writer.acquireLease();
      await writer.apply(aBatch(0, endedCalls(20), [aRefusal(21)]));
      await writer.clear();
      expect(await search.position()).toBe(0);
      expect(await found()).toEqual([]);
      expect(await search.refusals({ tenant: 'acme' }, null, 10)).toEqual([]);
      expect(await countOf(search)).toBe(0);
      expect(await search.runTotals('acme', ['run_1'])).toEqual(new Map());
      expect(await search.find({ tenant: 'acme', texts: ['oslo'] }, NEWEST, null, 10)).toEqual([]);
      expect(await writer.apply(aBatch(0, endedCalls(20)))).toBe(true);
      expect(await countOf(search)).toBe(20);
    });

    it('forgets calls and refusals that ended before, and metrics that are older than they are kept', async () => {
      const { writer, search } = opened;
      const now = Date.now();
      const at = (ago: number): { createdAt: number } => ({ createdAt: now - ago });
      const calls = [
        endedCall(1, 'COMPLETED', TIMES, { ...at(100 * DAY_MS), runId: 'run_old', argsJson: '"oldest"' }),
        endedCall(2, 'COMPLETED', TIMES, at(3 * DAY_MS)),
        endedCall(3, 'COMPLETED', TIMES, at(HOUR_MS)),
      ];
      await writer.acquireLease();
      await writer.apply(
        aBatch(0, calls, [aRefusal(4, { at: now - 3 * DAY_MS }), aRefusal(5, { at: now - HOUR_MS })]),
      );
      await writer.forget(now - 50 * DAY_MS);
      expect((await found()).map(({ id }) => id)).toEqual([calls[1]!.id, calls[2]!.id]);
      expect(await search.find({ tenant: 'acme', texts: ['oldest'] }, NEWEST, null, 10)).toEqual([]);
      expect(await search.runTotals('acme', ['run_old'])).toEqual(new Map());
      await writer.forget(now - 2 * DAY_MS);
      expect((await found()).map(({ id }) => id)).toEqual([calls[2]!.id]);
      expect((await search.refusals({ tenant: 'acme' }, null, 10)).map(({ seq }) => seq)).toEqual([5]);
      // Hours are kept for 90 days, minutes for two.
      expect(await countOf(search, HOUR_MS)).toBe(4);
      expect(await countOf(search, 60_000)).toBe(2);
      expect(await search.position()).toBe(5);
    });

    it('finds the metrics of a name by a pattern although its calls are forgotten', async () => {
      const { writer, search } = opened;
      const now = Date.now();
      const call = endedCall(1, 'COMPLETED', TIMES, { createdAt: now - 10 * DAY_MS, toolName: 'old.tool' });
      await writer.acquireLease();
      await writer.apply(aBatch(0, [call]));
      await writer.forget(now - 2 * DAY_MS);
      const [since, until] = [0, Math.ceil(now / DAY_MS) * DAY_MS];
      for (const name of ['old.tool', 'old.*']) {
        const tools = { any: [name], none: [] };
        const criteria = { tenant: 'acme', tools, since, until, stepMs: HOUR_MS, by: 'tool' } as const;
        expect(sumOf(await search.metrics(criteria, 1)), name).toBe(1);
      }
    });

    it('takes refused requests whose names were cut in the middle of a character', async () => {
      const { writer, search } = opened;
      const refusals = ['\ud83d', '\ud83e', '\ud83d'].map((half, n) =>
        aRefusal(n + 1, { toolName: `tool ${half}`, agentId: `agent ${half}` }),
      );
      await writer.acquireLease();
      expect(await writer.apply(aBatch(0, [], refusals))).toBe(true);
      expect(await search.refusals({ tenant: 'acme' }, null, 10)).toHaveLength(3);
      expect(await countOf(search)).toBe(3);
    });

    it('counts what exceeds the groups of a time bucket under one name', async () => {
      const { writer, search } = opened;
      const count = GROUPS_PER_BUCKET + 50;
      const createdAt = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
      const calls = Array.from({ length: count }, (_, n) =>
        endedCall(n + 1, 'COMPLETED', TIMES, { createdAt, agentId: `hostile-${n}` }),
      );
      await writer.acquireLease();
      await writer.apply(aBatch(0, calls.slice(0, GROUPS_PER_BUCKET - 20)));
      await writer.apply(aBatch(GROUPS_PER_BUCKET - 20, calls.slice(GROUPS_PER_BUCKET - 20)));
      const since = createdAt;
      const hour = { tenant: 'acme', since, until: since + HOUR_MS };
      const found = await search.metrics({ ...hour, stepMs: HOUR_MS, by: 'agent' }, 2 * count);
      expect(sumOf(found)).toBe(count);
      expect(found.series.length).toBeLessThanOrEqual(GROUPS_PER_BUCKET + 1);
      expect(found.series.find(({ key }) => key === OTHER_NAME)?.count).toBe(50);
      // A known group is still counted under its own name.
      await writer.apply(
        aBatch(count, [endedCall(9999, 'COMPLETED', TIMES, { createdAt, agentId: 'hostile-1' })]),
      );
      const known = { ...hour, agentId: 'hostile-1', stepMs: 60_000, by: null };
      expect(sumOf(await search.metrics(known, 1))).toBe(2);
    });

    it('bounds the groups of a time bucket also for requests that name an unknown tool as that one', async () => {
      const count = 2 * GROUPS_PER_BUCKET;
      const since = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
      const refusals = Array.from({ length: count }, (_, n) =>
        aRefusal(n + 1, { at: since, toolName: OTHER_NAME, agentId: `hostile-${n}` }),
      );
      await opened.writer.acquireLease();
      await opened.writer.apply(aBatch(0, [], refusals.slice(0, GROUPS_PER_BUCKET)));
      await opened.writer.release();
      const { writer, search } = await opened.reopen();
      await writer.acquireLease();
      await writer.apply(aBatch(GROUPS_PER_BUCKET, [], refusals.slice(GROUPS_PER_BUCKET)));
      const hour = { tenant: 'acme', since, until: since + HOUR_MS, stepMs: HOUR_MS };
      const found = await search.metrics({ ...hour, by: 'agent' }, count);
      expect(sumOf(found)).toBe(count);
      expect(found.series.length).toBeLessThanOrEqual(GROUPS_PER_BUCKET + 1);
    });
  });
}

const NEWEST = { by: 'created', isAscending: false } as const;

/** Calls and refusals of all tenants, counted in buckets of this width. */
async function countOf(search: CallSearch, stepMs = HOUR_MS): Promise<number> {
  const until = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  return sumOf(await search.metrics({ tenant: null, since: 0, until, stepMs, by: null }, 1));
}

function sumOf({ series }: LargestSeries): number {
  return series.reduce((sum, { count }) => sum + count, 0);
}
