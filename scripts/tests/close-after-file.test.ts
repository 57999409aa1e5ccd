import { beforeAll, expect, it } from 'vitest';
import { afterUse, closeAll } from '../../packages/patchboard/test/support/after-use.ts';

const closed: string[] = [];

beforeAll(() => {
  for (const name of ['first', 'second']) afterUse(async () => void closed.push(name));
});

it('closes what a hook has opened, the newest first, once', async () => {
  expect(closed).toEqual([]);
  await closeAll();
  expect(closed).toEqual(['second', 'first']);
  await closeAll();
  expect(closed).toHaveLength(2);
});
