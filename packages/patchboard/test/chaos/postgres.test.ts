import { expect, it } from 'vitest';
import type { PostgresFault } from '../../../../scripts/chaos/postgres-faults.ts';
import { runPostgresLoop } from '../../../../scripts/chaos/postgres-loop.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';

/** Three kills of each; postgres.long.test.ts has every fault. */
const FAULTS: readonly PostgresFault[] = [
  'database killed',
  'both killed',
  'database stopped at once',
  'killed at a failpoint',
];

it(
  'a server on PostgreSQL that is killed, as is the database, keeps every promise it made',
  { timeout: 240_000, retry: 0 },
  async () => {
    const seed = chaosSeed('postgres');
    const { facts, violations } = await withChaosFolder((folder) =>
      runPostgresLoop({ folder, version: 15, faults: FAULTS, seed, log: () => {} }),
    );
    expect(violations, `npm run chaos -- postgres --postgres 15 --seed ${seed}`).toEqual([]);
    expect([facts.serverKills, facts.databaseKills]).toEqual([3, 3]);
    // Otherwise the promises held only because no client relied on them.
    expect(facts.acknowledged).toBeGreaterThan(FAULTS.length);
  },
);
