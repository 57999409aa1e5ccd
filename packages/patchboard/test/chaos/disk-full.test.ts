import { expect, it } from 'vitest';
import { runDiskFull } from '../../../../scripts/chaos/disk-full.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';

it(
  'returns 507 on a full disk, serves reads, and recovers when there is space',
  { timeout: 120_000 },
  async () => {
    const { violations } = await withChaosFolder(runDiskFull);
    expect(violations).toEqual([]);
  },
);
