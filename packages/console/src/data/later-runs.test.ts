import type { RunOutcomeName } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { computed, ref, shallowRef } from 'vue';
import { useLaterRuns, type LaterRuns } from './later-runs.ts';
import type { RunRow } from './run-row.ts';

/** The nth run started at n. */
function aRow(n: number, outcome: RunOutcomeName = 'running'): RunRow {
  const counts = { total: 1, open: 0, running: 0, failed: 0 };
  return { id: `run_${n}`, agent: 'ada', outcome, shown: outcome, ...counts, startedAt: n, endedAt: null };
}

const numbersOf = ({ rows }: LaterRuns): number[] => rows.value.map(({ startedAt }) => startedAt);

function aList(numbers: readonly number[], given: RunOutcomeName | undefined) {
  const paged = shallowRef(numbers.map((n) => aRow(n)));
  const outcome = ref(given);
  const list = useLaterRuns(
    computed(() => paged.value),
    computed(() => outcome.value),
  );
  return { paged, list };
}

describe('runs that are read later', () => {
  it('come before the pages, and replace what the pages had', () => {
    const { list } = aList([3, 2, 1], undefined);
    list.add([aRow(2, 'failed'), aRow(5), aRow(4)]);
    expect(numbersOf(list)).toEqual([5, 4, 3, 2, 1]);
    expect(list.rows.value[3]?.outcome).toBe('failed');
    list.removeOthers([aRow(5)], true, []);
    expect(numbersOf(list)).toEqual([5, 4, 3, 2, 1]);
  });

  it('wait while the list is on hold', () => {
    const { list } = aList([1], undefined);
    list.hold(true);
    list.add([aRow(1), aRow(2)]);
    expect([numbersOf(list), list.heldCount.value]).toEqual([[1], 1]);
    list.hold(false);
    expect([numbersOf(list), list.heldCount.value]).toEqual([[2, 1], 0]);
  });

  it('leave a list by outcome when they have another one, and come back at their place', () => {
    const { list } = aList([9, 7, 5, 3, 1], 'running');
    // The page ends with run 5, so that nothing is known of the older ones, except what was looked up.
    const newest = [aRow(9), aRow(5)];
    list.add([...newest, aRow(3, 'failed')]);
    list.removeOthers(newest, false, [aRow(3, 'failed')]);
    expect(numbersOf(list)).toEqual([9, 5, 1]);
    const again = [aRow(9), aRow(7), aRow(6), aRow(5)];
    list.add(again);
    list.removeOthers(again, false, []);
    expect(numbersOf(list)).toEqual([9, 7, 6, 5, 1]);
    list.removeOthers([], false, []);
    expect(numbersOf(list)).toEqual([9, 7, 6, 5, 1]);
    list.removeOthers([aRow(7)], true, []);
    expect(numbersOf(list)).toEqual([7]);
  });

  it('stay where they are while a list by outcome is on hold', () => {
    const { list } = aList([2, 1], 'running');
    list.hold(true);
    list.removeOthers([], true, []);
    expect(numbersOf(list)).toEqual([2, 1]);
    list.hold(false);
    expect(numbersOf(list)).toEqual([]);
  });
});
