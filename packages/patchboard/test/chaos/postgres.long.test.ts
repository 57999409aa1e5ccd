import { describe, expect, it } from 'vitest';
import { POSTGRES_FAULTS } from '../../../../scripts/chaos/postgres-faults.ts';
import { faultsOf, runPostgresLoop } from '../../../../scripts/chaos/postgres-loop.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';

/** `npm run chaos -- postgres` does this for 200 faults. */
const FAULTS = POSTGRES_FAULTS.length + 4;
const TIMEOUT_MS = 600_000;

describe('a server on PostgreSQL', () => {
  it('keeps every promise it made, whatever is interrupted', { timeout: TIMEOUT_MS }, async () => {
    const seed = chaosSeed('postgres');
    const { facts, violations } = await withChaosFolder((folder) =>
      runPostgresLoop({ folder, version: 18, faults: faultsOf(FAULTS, seed), seed, log: () => {} }),
    );
    expect(violations, `npm run chaos -- postgres --kills ${FAULTS} --seed ${seed}`).toEqual([]);
    expect(Object.keys(facts.faults)).toEqual(expect.arrayContaining([...POSTGRES_FAULTS]));
    expect(facts.acknowledged).toBeGreaterThan(FAULTS);
    expect(facts.submissionsAccepted).toBeGreaterThan(0);
    expect(facts.store.byState).toMatchObject({ COMPLETED: expect.any(Number), SEALED: expect.any(Number) });
    expect(facts.refused, 'no request was refused while the database was away').toBeGreaterThan(0);
  });

  it('breaks them with a planted fault, and the checker notices', { timeout: TIMEOUT_MS }, async () => {
    const { violations } = await withChaosFolder((folder) =>
      runPostgresLoop({
        folder,
        version: 18,
        faults: ['server killed', 'server killed'],
        seed: chaosSeed('postgres'),
        log: () => {},
        planted: 'early-acknowledgement',
      }),
    );
    expect(violations).toContainEqual(expect.stringMatching(/was acknowledged and is lost/));
  });
});
