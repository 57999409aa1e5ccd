import { afterAll, beforeAll, describe, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { checkOnPhone, checkPages, PAGES } from './support/page-walks.ts';
import { echo } from './support/toys.ts';

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo] });
});
afterAll(async () => {
  await board?.close();
});

describe('every page', () => {
  it.each([
    ['en', 'light'],
    ['zh-CN', 'dark'],
  ] as const)('opens in %s, %s', async (locale, colorScheme) => {
    await checkPages(board, locale, colorScheme);
  });

  it('fits a phone, where the menu leads from page to page', async () => {
    await checkOnPhone(board, PAGES);
  });
});
