import { describe, expect, it } from 'vitest';
import type { ClusterFault } from '../../../../scripts/chaos/cluster-faults.ts';
import { runClusterLoop } from '../../../../scripts/chaos/cluster-loop.ts';
import type { PlantedFault } from '../../../../scripts/chaos/planted-faults.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';

const TIMEOUT_MS = 600_000;
const KILLS: readonly ClusterFault[] = ['node killed', 'node killed', 'node killed'];

async function violationsWith(planted: PlantedFault): Promise<readonly string[]> {
  const { violations } = await withChaosFolder((folder) =>
    runClusterLoop({
      folder,
      version: 18,
      buses: ['postgres'],
      faults: KILLS,
      seed: chaosSeed('cluster'),
      log: () => {},
      planted,
    }),
  );
  return violations;
}

describe('several nodes with a planted fault break a promise, and the checker notices', () => {
  it.for([
    ['early-acknowledgement', /was acknowledged and is lost|was acknowledged, and reading it got 404/],
    ['forgotten-key', /^request \d+ became \d+ calls/],
    ['repeated-effect', /is not idempotent and was executed \d+ times/],
    // It returns what was read up to two seconds before: to a second read, or to one that waited for the change.
    ['stale-read', /is \w+ after \d+ changes; \d+ were read before|got it 2\d{3} ms late/],
  ] as const)('%s', { timeout: TIMEOUT_MS }, async ([planted, found]) => {
    expect(await violationsWith(planted)).toContainEqual(expect.stringMatching(found));
  });
});
