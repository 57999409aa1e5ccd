import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo, endless } from './support/toys.ts';
import { waitFor } from '../support/wait-for.ts';

/** A browser opens six HTTP/1.1 connections to one host, for all of its tabs together. */
const CONNECTIONS = 6;
const LOADS = 2 * CONNECTIONS + 2;
const HEARTBEAT_MS = 5000;

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, endless], hasPageCache: true });
});
afterAll(async () => {
  await board?.close();
});

async function callEcho(): Promise<string> {
  const body = { run_id: 'r', args: {} };
  const response = await board.server.ask({ method: 'POST', path: '/v1/tools/toy.echo/invoke', body });
  return (response.json as { tool_call_id: string }).tool_call_id;
}

async function openStreams(): Promise<number> {
  const { text } = await board.server.asOperator('GET', '/metrics');
  return Number(/^patchboard_streams_open (\d+)$/m.exec(text)?.[1]);
}

async function isLive(page: Page): Promise<void> {
  await page.locator('[data-live="live"]').waitFor();
}

async function anotherTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${board.url}${path}`);
  return page;
}

/** No load event comes with a page that is taken out of the cache. */
async function goBack(page: Page): Promise<void> {
  await page.goBack({ waitUntil: 'commit' });
}

/** Headless pages are visible for ever: says to the page what a browser says when another tab is chosen. */
async function show(page: Page, isShown: boolean): Promise<void> {
  await page.evaluate((visible) => {
    Object.defineProperty(document, 'visibilityState', {
      value: visible ? 'visible' : 'hidden',
      configurable: true,
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isShown);
}

/** What a page holds in memory is there again if it comes out of the cache, and not if it is loaded anew. */
async function rememberPage(page: Page): Promise<void> {
  await page.evaluate(() => Object.assign(globalThis, { isRemembered: true }));
}

async function isRemembered(page: Page): Promise<boolean> {
  return await page.evaluate(() => 'isRemembered' in globalThis);
}

describe('tabs of one browser', () => {
  it('twelve at once all load, are live, and share one stream', async () => {
    const { page, context, done } = await board.open('/ui/calls');
    const others = Array.from({ length: 2 * CONNECTIONS - 1 }, () => anotherTab(context, '/ui/calls'));
    const tabs = [page, ...(await Promise.all(others))];
    await Promise.all(tabs.map(isLive));
    await waitFor(async () => expect(await openStreams()).toBe(1));
    const id = await callEcho();
    await Promise.all(tabs.map((tab) => tab.locator(`[data-call="${id}"]`).waitFor()));
    // Who signs out does so in every tab, and each goes on with what anyone may see.
    await page.goto(`${board.url}/ui/login`);
    await page.locator('[data-sign-out]').click();
    await Promise.all(tabs.map((tab) => tab.locator('[data-signed-in="false"]').waitFor()));
    await Promise.all(tabs.map(isLive));
    await waitFor(async () => expect(await openStreams()).toBe(1));
    await done();
    await waitFor(async () => expect(await openStreams()).toBe(0));
  });

  it('are live after every full load, however many pages are kept for going back', async () => {
    const { page, context, done } = await board.open('/ui/settings');
    for (let load = 1; load <= LOADS; load += 1) {
      await page.goto(`${board.url}/ui/${load === LOADS ? 'calls' : 'settings'}`);
      await isLive(page);
    }
    // A second tab keeps the worker: alone, a page that shares one is not kept.
    await isLive(await anotherTab(context, '/ui/settings'));
    await rememberPage(page);
    await page.goto(`${board.url}/ui/settings`);
    await isLive(page);
    const id = await callEcho();
    await goBack(page);
    expect(await isRemembered(page)).toBe(true);
    await page.locator(`[data-call="${id}"]`).waitFor();
    await isLive(page);
    await done();
  });

  it('hold a stream only while they are shown, where there are no shared workers', async () => {
    const { page, context, done } = await board.open('/', { isSignedIn: false });
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    for (let load = 1; load <= CONNECTIONS + 2; load += 1) {
      await page.goto(`${board.url}/ui/${load === CONNECTIONS + 1 ? 'calls' : 'settings'}`);
      await isLive(page);
      if (load === CONNECTIONS + 1) await rememberPage(page);
    }
    await waitFor(async () => expect(await openStreams()).toBe(1));
    await goBack(page);
    expect(await isRemembered(page)).toBe(true);
    await isLive(page);
    await show(page, false);
    await waitFor(async () => expect(await openStreams()).toBe(0));
    await page.locator('[data-live="paused"]').waitFor();
    const id = await callEcho();
    await show(page, true);
    await isLive(page);
    await page.locator(`[data-call="${id}"]`).waitFor();
    await done();
  });

  it('say that they are not live when the worker they share has ended, and start another', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.clock.install();
    await page.reload();
    await isLive(page);
    const devtools = await board.browser.newBrowserCDPSession();
    // Those of the tests before end with their pages, a moment after them.
    const worker = await waitFor(async () => {
      const { targetInfos } = await devtools.send('Target.getTargets');
      const workers = targetInfos.filter(({ type }) => type === 'shared_worker');
      expect(workers).toHaveLength(1);
      return workers[0]!;
    });
    const states = page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          const seen: string[] = [];
          const badge = document.querySelector('[data-live]')!;
          new MutationObserver(() => {
            seen.push(badge.getAttribute('data-live') ?? '');
            if (seen.at(-1) === 'live') resolve(seen);
          }).observe(badge, { attributeFilter: ['data-live'] });
        }),
    );
    await devtools.send('Target.closeTarget', { targetId: worker.targetId });
    // The tab asks for a sign of life, and misses it when it asks again.
    for (let beat = 0; beat < 2; beat += 1) await page.clock.fastForward(HEARTBEAT_MS);
    expect((await states)[0]).toBe('lost');
    const id = await callEcho();
    await page.locator(`[data-call="${id}"]`).waitFor();
    await done();
  });
});
