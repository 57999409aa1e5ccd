import { expect, it } from 'vitest';
import { runRefusedStores } from '../../../../scripts/chaos/refused-stores.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';

it('refuses a store it cannot use in one line, and leaves it alone', { timeout: 240_000 }, async () => {
  const { violations } = await withChaosFolder(runRefusedStores);
  expect(violations).toEqual([]);
});
