import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import { DatabaseClock } from './database-clock.ts';
import type { CallPlace, NodeTable } from './node-table.ts';
import { OverdueSweep } from './overdue-sweep.ts';
import { TakenCalls } from './taken-calls.ts';
import { SWEEP_LIMIT } from './timing.ts';

const START = 1_800_000_000_000;
const HOUR = 3_600_000;

function aSweep(overdue = 0) {
  const base = new FakeClock(START);
  const clock = new DatabaseClock(base, SILENT_LOG);
  /** Deadlines before this time, of these owners: each claim. */
  const claims: { before: number; owners: readonly number[] | null }[] = [];
  let left = overdue;
  const table = {
    claimOverdue: (_from: number, before: number, limit: number, owners: readonly number[] | null) => {
      claims.push({ before: before - (START + base.elapsed()), owners });
      const length = Math.min(limit, left);
      left -= length;
      const places = Array.from({ length }, (_, n) => ({
        id: `tc_${n}`,
        version: 2,
        owner: 1,
        isOpen: true,
      }));
      return Promise.resolve<readonly CallPlace[]>(places);
    },
  } as unknown as NodeTable;
  const silent: number[] = [];
  const sweep = new OverdueSweep({
    table,
    clock,
    taken: new TakenCalls(table, {
      send: () => {},
      listen: () => () => {},
      isConnected: true,
      connections: 1,
      close: async () => {},
    }),
    hasLease: () => true,
    hasOthers: () => true,
    silent: () => silent,
  });
  /** Measures a clock of the database that is ahead of the start by `offset`, for `ms`. */
  const measure = (offset: number, ms: number): void => {
    for (const end = base.elapsed() + ms; base.elapsed() < end; base.pass(500))
      clock.measured(base.elapsed(), base.elapsed(), START + offset + base.elapsed());
  };
  const run = async (): Promise<(typeof claims)[number] | undefined> => {
    claims.length = 0;
    await sweep.run();
    return claims[0];
  };
  return { base, measure, silent, run, left: () => left };
}

it('ends overdue calls of every other node by the clock of the database', async () => {
  const { measure, run } = aSweep();
  measure(0, 1000);
  expect(await run()).toEqual({ before: -300, owners: null });
});

it('ends all of them at once, however many they are', async () => {
  const { measure, run, left } = aSweep(5 * SWEEP_LIMIT + 1);
  measure(0, 1000);
  await run();
  expect(left()).toBe(0);
});

it('ends only those of silent nodes from a step of the clock until ten minutes after it was followed', async () => {
  const { base, measure, silent, run } = aSweep();
  measure(0, 1000);
  measure(HOUR, 500);
  // Not followed yet. A living owner ends its calls itself.
  expect(await run()).toBeUndefined();
  silent.push(7);
  expect(await run()).toEqual({ before: -300, owners: [7] });
  measure(HOUR, 11_000);
  // Followed: every deadline written before seems to be over.
  expect(await run()).toEqual({ before: HOUR - 300, owners: [7] });
  silent.pop();
  base.pass(590_000);
  expect(await run()).toBeUndefined();
  base.pass(20_000);
  expect(await run()).toEqual({ before: HOUR - 300, owners: null });
});
