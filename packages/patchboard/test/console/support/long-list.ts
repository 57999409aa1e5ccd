import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Store } from '../../../src/core/ports.ts';
import { aCall, completed, insertAll } from '../../../src/store/samples.contract.ts';
import { aConsole } from './a-console.ts';

const BATCH = 500;
/** Upper bound of rows in the DOM: three screens. */
const MOST_ROWS = 80;

/** Stores `count` ended calls, the last of them a moment ago. Returns their ids. */
export async function fillCalls(store: Store, count: number): Promise<string[]> {
  const ids: string[] = [];
  const first = Date.now() - count * 10;
  for (let from = 0; from < count; from += BATCH) {
    const calls = Array.from({ length: BATCH }, (_, at) => {
      const given = { tenant: 'default', createdAt: first + (from + at) * 10 };
      return completed(aCall(from + at, given));
    });
    await insertAll(store, calls);
    ids.push(...calls.map(({ id }) => id));
  }
  return ids;
}

interface Seen {
  readonly first: string;
  readonly last: string;
  readonly rows: number;
}

/** The visible rows, without those rendered in advance. */
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
 * Scrolls to the end repeatedly, as if the End key were held; returns the maximum number of rows in the DOM.
 * It continues after each DOM change, because checking every frame would take most of the time.
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

/** Scrolls through a list of `count` calls: a screenful of rows, and each at its place. Then jumps to each of `places`. */
export async function checkLongList(count: number, places: readonly number[]): Promise<void> {
  const board = await aConsole();
  try {
    const ids = await fillCalls(board.server.store, count);
    /** Index from the top. */
    const newest = (index: number): string => ids[count - 1 - index] ?? '';
    const { page, done } = await board.open('/ui/calls');
    const isShown = (index: number): Promise<void> =>
      page.locator(`[data-call="${newest(index)}"]`).waitFor();
    await isShown(0);
    expect(await toTheEnd(page)).toBeLessThanOrEqual(MOST_ROWS);
    await expect.poll(() => seen(page)).toMatchObject({ last: newest(count - 1) });
    await page.getByText(`${count.toLocaleString('en')} calls`).waitFor();

    for (const index of places) {
      await page.locator('[data-scroller]').evaluate((scroller, at) => {
        scroller.scrollTop = at * 36;
      }, index);
      await expect.poll(() => seen(page)).toMatchObject({ first: newest(index) });
      expect((await seen(page)).rows).toBeLessThanOrEqual(MOST_ROWS);
    }
    // The back button leads to the row again.
    const last = newest(places.at(-1) ?? 0);
    await page.locator(`[data-call="${last}"] a`).click();
    await page.waitForURL(`**/ui/calls/${last}`);
    await page.goBack();
    await page.locator(`[data-call="${last}"] a:focus`).waitFor();
    await page.locator('[data-scroller]').press('Home');
    await expect.poll(() => seen(page)).toMatchObject({ first: newest(0) });
    await done();
  } finally {
    await board.close();
  }
}
