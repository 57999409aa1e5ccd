import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { aCall, completed, insertAll } from '../../src/store/samples.contract.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';

const CALLS = 100_000;
const BATCH = 500;
/** What fits on the screen of the test, and as many again above and below. */
const MOST_ROWS = 80;

let board: TestConsole;
const ids: string[] = [];
beforeAll(async () => {
  board = await aConsole();
  await fill(board.server.store);
});
afterAll(async () => {
  await board?.close();
});

/** As many calls as a busy day has, ended, the last of them a moment ago. */
async function fill(store: Store): Promise<void> {
  const first = Date.now() - CALLS * 10;
  for (let from = 0; from < CALLS; from += BATCH) {
    const calls = Array.from({ length: BATCH }, (_, at) => {
      const given = { tenant: 'default', createdAt: first + (from + at) * 10 };
      return completed(aCall(from + at, given));
    });
    await insertAll(store, calls);
    ids.push(...calls.map(({ id }) => id));
  }
}

interface Seen {
  readonly first: string;
  readonly last: string;
  readonly rows: number;
}

/** Rows inside the window of the list, not those kept ready around it. */
async function seen(page: Page): Promise<Seen> {
  return await page.locator('[data-scroller]').evaluate((scroller) => {
    const { top, bottom } = scroller.getBoundingClientRect();
    const all = [...scroller.querySelectorAll<HTMLElement>('[data-call]')];
    const inside = all
      .map((row) => ({ id: row.dataset['call'] ?? '', box: row.getBoundingClientRect() }))
      .filter(({ box }) => box.bottom > top + 1 && box.top < bottom - 1)
      .sort((one, other) => one.box.top - other.box.top);
    return { first: inside.at(0)?.id ?? '', last: inside.at(-1)?.id ?? '', rows: all.length };
  });
}

/**
 * Goes to the end again and again, as somebody who holds the End key; answers the most rows there ever were. It goes on
 * when something has changed: to look at every frame would take most of the time.
 */
async function toTheEnd(page: Page): Promise<number> {
  return await page.locator('[data-scroller]').evaluate(async (scroller) => {
    let most = 0;
    let onChange = (): void => undefined;
    const watcher = new MutationObserver(() => {
      most = Math.max(most, scroller.querySelectorAll('[data-call]').length);
      onChange();
    });
    watcher.observe(scroller.parentElement ?? scroller, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
    const isDone = (): boolean => document.querySelector('[data-more="end"]') !== null;
    while (!isDone() || scroller.scrollTop + scroller.clientHeight < scroller.scrollHeight - 1) {
      const changed = new Promise<void>((resolve) => (onChange = resolve));
      scroller.scrollTop = scroller.scrollHeight;
      await changed;
    }
    watcher.disconnect();
    return most;
  });
}

async function jumpTo(page: Page, index: number): Promise<void> {
  await page.locator('[data-scroller]').evaluate((scroller, at) => {
    scroller.scrollTop = at * 36;
  }, index);
  await page.locator(`[data-call="${newest(index)}"]`).waitFor();
}

/** The nth from the top. */
const newest = (index: number): string => ids[CALLS - 1 - index] ?? '';

it('scrolls through a hundred thousand calls with a screenful of rows, and each is at its place', async () => {
  const { page, done } = await board.open('/ui/calls');
  await page.locator(`[data-call="${newest(0)}"]`).waitFor();
  expect(await toTheEnd(page)).toBeLessThanOrEqual(MOST_ROWS);
  await page.locator(`[data-call="${newest(CALLS - 1)}"]`).waitFor();
  expect(await seen(page)).toMatchObject({ last: newest(CALLS - 1) });
  await page.getByText('100000 calls').waitFor();

  for (const index of [73_210, 12, 50_000, 99_000]) {
    await jumpTo(page, index);
    const now = await seen(page);
    expect(now.first).toBe(newest(index));
    expect(now.rows).toBeLessThanOrEqual(MOST_ROWS);
  }
  await page.locator('[data-scroller]').press('Home');
  await page.locator(`[data-call="${newest(0)}"]`).waitFor();
  await expect.poll(() => seen(page)).toMatchObject({ first: newest(0) });
  await done();
}, 600_000);
