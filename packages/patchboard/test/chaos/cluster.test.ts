import { expect, it } from 'vitest';
import type { ClusterFault } from '../../../../scripts/chaos/cluster-faults.ts';
import { runClusterLoop } from '../../../../scripts/chaos/cluster-loop.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';

/** One of each main kind; `npm run chaos -- cluster` has all of them, for minutes. */
const FAULTS: readonly ClusterFault[] = [
  'node killed',
  'database stopped at once',
  'link silent',
  'NATS restarted',
  'node stopped',
  'rolling restart',
];
/** The bounds are those of an idle machine; this one runs other tests at the same time. */
const TOLERANCE_MS = 20_000;

it(
  'three nodes that are killed, stopped, cut off and restarted, as are PostgreSQL and NATS, keep every promise they made',
  { timeout: 240_000, retry: 0 },
  async () => {
    const seed = chaosSeed('cluster');
    const { facts, violations } = await withChaosFolder((folder) =>
      runClusterLoop({
        folder,
        version: 15,
        buses: ['nats'],
        faults: FAULTS,
        longestMs: 4000,
        toleranceMs: TOLERANCE_MS,
        seed,
        log: () => {},
      }),
    );
    expect(violations, `npm run chaos -- cluster --bus nats --postgres 15 --seed ${seed}`).toEqual([]);
    expect(Object.keys(facts.faults)).toEqual(FAULTS);
    expect(facts.takeovers).toBeGreaterThan(0);
    expect(facts.rollingRequests).toBeGreaterThan(0);
    // Otherwise the promises held only because no client relied on them.
    expect(facts.acknowledged).toBeGreaterThan(FAULTS.length);
  },
);
