import { it } from 'vitest';
import { checkLongList } from './support/long-list.ts';

it('scrolls through a hundred thousand calls with a screenful of rows, and each is at its place', async () => {
  await checkLongList(100_000, [73_210, 12, 50_000, 99_000]);
}, 600_000);
