import { expect, it } from 'vitest';
import { runEndlessBody } from '../../../../scripts/chaos/endless-body.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';

it('answers 413 to a body of any size, and holds none of it', { timeout: 120_000 }, async () => {
  const { violations } = await withChaosFolder((folder) => runEndlessBody(folder, 64 * 2 ** 20));
  expect(violations).toEqual([]);
});
