import type { SeededRandom } from './seeded-random.ts';

/** What the scenario does to several nodes, their database and their NATS server, under load and at random moments. */
const CLUSTER_FAULTS = [
  'node killed',
  'node stopped',
  'database stopped at once',
  'connections terminated',
  'link cut',
  'link silent',
  'commit interrupted',
  'killed at a failpoint',
  'clock wrong',
  'rolling restart',
  'database killed',
  'NATS restarted',
  'NATS link cut',
  'NATS link silent',
] as const;

export type ClusterFault = (typeof CLUSTER_FAULTS)[number];
export type BusName = 'postgres' | 'nats';

/** It takes long, because nothing else happens meanwhile. */
const RARE: ClusterFault = 'rolling restart';
/** How much less often a rare fault is drawn. */
const RARITY = 0.4;

export function hasBus(fault: ClusterFault, bus: BusName): boolean {
  return bus === 'nats' || !fault.startsWith('NATS');
}

/** Each fault once, then at random, without end. */
export function* faultsForever(bus: BusName, random: SeededRandom): Generator<ClusterFault> {
  const all = CLUSTER_FAULTS.filter((fault) => hasBus(fault, bus));
  yield* all;
  for (;;) {
    const fault = random.pick(all);
    if (fault !== RARE || random.chance(RARITY)) yield fault;
  }
}
