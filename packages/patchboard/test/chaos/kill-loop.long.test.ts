import { describe, expect, it } from 'vitest';
import { FAILPOINTS } from '../../../../scripts/chaos/failpoints.ts';
import { runKillLoop } from '../../../../scripts/chaos/kill-loop.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';

/** `npm run chaos` does this for 200 kills; twenty meet every failpoint once. */
const KILLS = 20;
const TIMEOUT_MS = 300_000;

describe('a server that is killed again and again', () => {
  it('keeps every promise it made', { timeout: TIMEOUT_MS }, async () => {
    const seed = chaosSeed('kill-loop');
    const { facts, violations } = await withChaosFolder((folder) =>
      runKillLoop({ folder, kills: KILLS, seed, log: () => {} }),
    );
    expect(violations, `npm run chaos -- kill-loop --kills ${KILLS} --seed ${seed}`).toEqual([]);
    expect(Object.keys(facts.kills)).toEqual(expect.arrayContaining([...FAILPOINTS]));
    // Otherwise the promises held only because no client relied on them.
    expect(facts.acknowledged).toBeGreaterThan(KILLS);
    expect(facts.submissionsAccepted).toBeGreaterThan(0);
    expect(facts.store.completedWithInput).toBeGreaterThan(0);
    expect(facts.store.byState).toMatchObject({ COMPLETED: expect.any(Number), SEALED: expect.any(Number) });
    expect(facts.store.timeoutsAfterRestart).toBeGreaterThan(0);
  });
});
