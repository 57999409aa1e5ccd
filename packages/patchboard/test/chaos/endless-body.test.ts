import { expect, it } from 'vitest';
import { runEndlessBody } from '../../../../scripts/chaos/endless-body.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';

it('returns 413 for a body of any size, and buffers none of it', { timeout: 120_000 }, async () => {
  const { violations } = await withChaosFolder((folder) => runEndlessBody(folder, 64 * 2 ** 20));
  expect(violations).toEqual([]);
});
