import { expect } from 'vitest';
import type { TestConsole } from './a-console.ts';

export const PAGES: readonly string[] = [
  'tester',
  'calls',
  'runs',
  'compare',
  'approvals',
  'tools',
  'resources',
  'upstreams',
  'nodes',
  'agents',
  'ledger',
  'metrics',
  'settings',
  'login',
];

/** Opens every page in one language and theme. */
export async function checkPages(
  board: TestConsole,
  locale: string,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const { page, done } = await board.open('/', { locale, colorScheme });
  for (const name of PAGES) {
    await page.goto(`${board.url}/ui/${name}`);
    await page.locator('[data-live="live"]').waitFor();
    await page.locator('h1').first().waitFor();
    const { lang, classList } = await page.evaluate(() => {
      const { documentElement } = document;
      return { lang: documentElement.lang, classList: documentElement.className };
    });
    expect({ name, lang, isDark: classList.includes('dark') }).toEqual({
      name,
      lang: locale,
      isDark: colorScheme === 'dark',
    });
    // No text key is shown in place of its text.
    const words = await page.locator('body').innerText();
    expect(words).not.toMatch(
      /\b(pages|shell|calls|runs|compare|state|tester|login|keys|tools|resources|upstreams|nodes)\.[a-z]\w+/,
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
  }
  await done();
}

/** Opens pages at the width of a phone, then navigates by the menu. */
export async function checkOnPhone(board: TestConsole, pages: readonly string[]): Promise<void> {
  const { page, done } = await board.open('/', { viewport: { width: 390, height: 844 } });
  for (const name of pages) {
    await page.goto(`${board.url}/ui/${name}`);
    await page.locator('[data-live="live"]').waitFor();
    await page.locator('h1').first().waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect({ name, width }).toEqual({ name, width: 390 });
  }
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
  await page.waitForURL('**/ui/settings*');
  await done();
}
