import { expect, it } from 'vitest';
import { runDrain } from '../../../../scripts/chaos/drain.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';

it(
  'drains on SIGTERM: running calls finish, streams end, the exit code is 0',
  { timeout: 120_000 },
  async () => {
    const { violations } = await withChaosFolder(runDrain);
    expect(violations).toEqual([]);
  },
);
