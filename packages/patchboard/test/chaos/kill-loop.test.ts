import { expect, it } from 'vitest';
import { runKillLoop } from '../../../../scripts/chaos/kill-loop.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';

/** kill-loop.long.test.ts has as many as it takes to meet every failpoint. */
const KILLS = 4;

it('a server that is killed keeps every promise it made', { timeout: 120_000, retry: 0 }, async () => {
  const seed = chaosSeed('kill-loop');
  const { facts, violations } = await withChaosFolder((folder) =>
    runKillLoop({ folder, kills: KILLS, seed, log: () => {} }),
  );
  expect(violations, `npm run chaos -- kill-loop --kills ${KILLS} --seed ${seed}`).toEqual([]);
  expect(facts.acknowledged).toBeGreaterThan(KILLS);
});
