import { expect, it } from 'vitest';
import type { NodeRow } from './node-table.ts';
import { FailureDetector } from './failure-detector.ts';

function aRow(writer: number, beat: number, given: Partial<NodeRow> = {}): NodeRow {
  return {
    writer,
    epoch: 1,
    beat,
    state: 'held',
    holder: 'host, process 1',
    url: null,
    version: null,
    fingerprint: null,
    room: 0,
    calls: 0,
    revision: 0,
    follows: [],
    startedAt: 0,
    tookOver: null,
    ...given,
  };
}

/** Observes every 500 ms from `from` on, at heartbeats that stand still. Returns when node 2 was found dead. */
function deadAt(detector: FailureDetector, from: number, until: number, beat = 1): number | null {
  for (let at = from; at <= until; at += 500)
    if (detector.observe([aRow(1, at), aRow(2, beat)], at - 1, at).length > 0) return at;
  return null;
}

it('takes a node for dead whose heartbeat stood still for three seconds', () => {
  const detector = new FailureDetector(1);
  expect(deadAt(detector, 0, 2500)).toBeNull();
  expect(detector.silent([aRow(1, 0), aRow(2, 1), aRow(3, 1, { state: 'free' })], 2500)).toEqual([2, 3]);
  // One heartbeat, one new holder, one release: the time begins anew, or there is nothing to observe.
  expect(detector.observe([aRow(2, 2)], 2999, 3000)).toEqual([]);
  expect(detector.silent([aRow(2, 2)], 3000)).toEqual([]);
  expect(detector.observe([aRow(2, 2, { epoch: 2 })], 3499, 3500)).toEqual([]);
  expect(deadAt(detector, 4000, 6500, 2)).toBeNull();
  expect(deadAt(detector, 7000, 8000, 2)).toBe(7500);
  expect(detector.observe([aRow(2, 2, { state: 'free' })], 7999, 8000)).toEqual([]);
});

it('does not count the time in which this node was paused, slow or without the database, and reports the first two', () => {
  const late: number[] = [];
  const report = (ms: number): number => late.push(ms);
  const detector = new FailureDetector(1, report);
  deadAt(detector, 0, 1000);
  // Stopped for ten seconds: whatever stood still may have gone on meanwhile.
  expect(deadAt(detector, 11_000, 13_500)).toBeNull();
  expect(deadAt(detector, 14_000, 15_000)).toBe(14_500);
  expect(late.splice(0)).toEqual([10_000]);
  const slow = new FailureDetector(1, report);
  for (let at = 0; at <= 10_000; at += 500) expect(slow.observe([aRow(2, 1)], at - 2000, at)).toEqual([]);
  expect(new Set(late.splice(0))).toEqual(new Set([2000]));
  const outage = new FailureDetector(1, report);
  deadAt(outage, 0, 2500);
  outage.reset();
  // Nothing is known of node 2 until the next observation.
  expect(outage.silent([aRow(2, 1), aRow(3, 1, { state: 'free' })], 2600)).toEqual([3]);
  expect(deadAt(outage, 3000, 5500)).toBeNull();
  expect(late).toEqual([]);
});
