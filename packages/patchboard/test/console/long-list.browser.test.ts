import { it } from 'vitest';
import { checkLongList } from './support/long-list.ts';

// long-list.long.test.ts has a hundred thousand.
it('scrolls through five thousand calls with a screenful of rows, and each is at its place', async () => {
  await checkLongList(5000, [3210, 12, 2500, 4900]);
}, 240_000);
