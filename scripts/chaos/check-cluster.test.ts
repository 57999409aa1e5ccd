import { expect, it } from 'vitest';
import type { Call } from '../../packages/patchboard/src/core/call/call.ts';
import { checkCluster, type ClusterObservations, type ClusterSummary } from './check-cluster.ts';
import { History } from './history.ts';
import { TOOLS } from './pack.ts';

const BOUNDS = { takeoverMs: 5000, waitMs: 2000 };

/** A call that was executing from 1000 on, and ended at `endedAt`. */
function aCall(endedAt: number): Call {
  const timeline = [
    { state: 'PENDING', at: 900 },
    { state: 'EXECUTING', at: 1000, attempt: 1 },
    { state: 'SEALED', at: endedAt },
  ];
  return { id: 'tc_1', toolName: TOOLS.effect, timeline } as unknown as Call;
}

/** One node, healthy from `from` on. */
function check(
  given: Partial<ClusterObservations>,
  from = 0,
): { readonly summary: ClusterSummary; readonly violations: readonly string[] } {
  const history = given.history ?? new History(true);
  const summary = checkCluster({
    calls: new Map(),
    effects: [],
    history,
    health: {
      wasHealthy: (_node, since) => since >= from,
      healthyUntil: () => Infinity,
      firstHealthy: (since) => Math.max(since, from),
    },
    deaths: [],
    takeovers: [],
    failures: [],
    bounds: BOUNDS,
    endCommittedAt: new Map(),
    ...given,
  });
  return { summary, violations: history.violations };
}

const EFFECT = { tool: TOOLS.effect, callId: 'tc_1', attempt: 1, pid: 7 };
const DEATH = { pid: 7, at: 2000, until: Infinity, cause: 'killed' };

it('finds a call that another node took over too late', () => {
  const orphaned = (endedAt: number): Partial<ClusterObservations> => ({
    calls: new Map([['tc_1', aCall(endedAt)]]),
    effects: [EFFECT],
    deaths: [DEATH],
  });
  expect(check(orphaned(7000))).toMatchObject({
    violations: [],
    summary: { orphanedCalls: 1, worstTakeoverMs: 5000 },
  });
  expect(check(orphaned(7001)).violations).toEqual([expect.stringContaining('tc_1 was executing at a node')]);
  // No node could take it over before.
  expect(check(orphaned(7001), 2500)).toMatchObject({ violations: [], summary: { worstTakeoverMs: 4501 } });
});

it('counts anew if the node that took the call over is disturbed', () => {
  const twice = (endedAt: number, disturbedAt: number): ReturnType<typeof check> =>
    check({
      calls: new Map([['tc_1', aCall(endedAt)]]),
      effects: [EFFECT],
      deaths: [DEATH],
      takeovers: [
        { node: 1, pid: 8, of: 7, at: 5000 },
        { node: 2, pid: 9, of: 8, at: 9000 },
      ],
      health: {
        wasHealthy: () => true,
        healthyUntil: (node) => (node === 1 ? disturbedAt : Infinity),
        firstHealthy: (since) => since,
      },
    });
  expect(twice(9500, 5500)).toMatchObject({ violations: [], summary: { worstTakeoverMs: 4000 } });
  expect(twice(10_501, 5500).violations).toHaveLength(1);
  // It was healthy all the time.
  expect(twice(9500, Infinity).violations).toHaveLength(1);
});

it('does not count a call that ended before its node died, or ran elsewhere', () => {
  const calls = new Map([['tc_1', aCall(1500)]]);
  expect(check({ calls, effects: [EFFECT], deaths: [DEATH] }).summary.orphanedCalls).toBe(0);
  const elsewhere = { calls: new Map([['tc_1', aCall(9000)]]), effects: [{ ...EFFECT, pid: 8 }] };
  expect(check({ ...elsewhere, deaths: [DEATH] }).summary.orphanedCalls).toBe(0);
});

it('does not count a call of a node that was back before another one had to take over', () => {
  const stopped = (until: number, endedAt: number, healthyFrom = 0): ClusterSummary =>
    check(
      {
        calls: new Map([['tc_1', aCall(endedAt)]]),
        effects: [EFFECT],
        deaths: [{ ...DEATH, until, cause: 'stopped' }],
      },
      healthyFrom,
    ).summary;
  expect(stopped(9000, 9001)).toMatchObject({ orphanedCalls: 1, worstTakeoverMs: 7001 });
  expect(stopped(9000, 8000)).toMatchObject({ orphanedCalls: 1, worstTakeoverMs: 6000 });
  // No node was healthy for long enough before 9000.
  expect(stopped(9000, 20_000, 4000).orphanedCalls).toBe(0);
  expect(stopped(9000, 20_000, 3999).orphanedCalls).toBe(1);
});

it('finds a read that waited at a healthy node and was not woken in time', () => {
  const waited = (answeredAt: number): Partial<ClusterObservations> => {
    const history = new History(true);
    history.waits.push({ callId: 'tc_1', node: 0, sentAt: 1200, answeredAt });
    return { history, calls: new Map([['tc_1', aCall(2000)]]) };
  };
  expect(check(waited(4000))).toMatchObject({
    violations: [],
    summary: { judgedWaits: 1, worstWaitMs: 2000 },
  });
  expect(check(waited(4001)).violations).toEqual([expect.stringContaining('got it 2001 ms late')]);
  expect(check(waited(4001), 1500)).toMatchObject({ violations: [], summary: { judgedWaits: 0 } });
  // The commit of the end was interrupted, and repeated.
  const endCommittedAt = new Map([['tc_1', 2500]]);
  expect(check({ ...waited(4001), endCommittedAt })).toMatchObject({
    violations: [],
    summary: { worstWaitMs: 1501 },
  });
  expect(check({ ...waited(4501), endCommittedAt }).violations).toHaveLength(1);
});

it('finds a request that failed at a healthy node', () => {
  const failures = [{ node: 0, what: 'GET /v1/tools: 500', sentAt: 1000, failedAt: 1100 }];
  expect(check({ failures }).violations).toEqual([expect.stringContaining('GET /v1/tools: 500')]);
  expect(check({ failures }, 900).violations).toEqual([]);
});
