import { expect, it } from 'vitest';
import { runDiskFull } from '../../../../scripts/chaos/disk-full.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';

it('answers 507 on a full disk, reads on, and goes on when there is room', { timeout: 120_000 }, async () => {
  const { violations } = await withChaosFolder(runDiskFull);
  expect(violations).toEqual([]);
});
