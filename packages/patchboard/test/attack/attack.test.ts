import { expect, it } from 'vitest';
import { attack } from '../../../../scripts/attack/attack.ts';
import { BATTERIES } from '../../../../scripts/attack/batteries.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';
import { SeededRandom } from '../../../../scripts/chaos/seeded-random.ts';

it('withstands the short form of every attack', { timeout: 180_000 }, async () => {
  const tried = new Map<string, number>();
  const violations = await withChaosFolder(
    async (folder) =>
      await attack(
        folder,
        [...BATTERIES.keys()],
        { isShort: true, random: new SeededRandom(chaosSeed('attack', 16)) },
        ({ name, tally }) => tried.set(name, tally.tried),
      ),
  );
  expect(violations).toEqual([]);
  // A battery that sends nothing would hold as well.
  expect([...tried.values()].every((count) => count > 5)).toBe(true);
});
