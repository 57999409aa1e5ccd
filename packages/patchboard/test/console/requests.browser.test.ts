import type { Page, Request } from 'playwright-core';
import { CONSOLE_PAGES } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDevice } from '../support/a-device.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { fillCalls } from './support/long-list.ts';
import { echo, remove } from './support/toys.ts';
import { addUpstreams } from './support/upstreams.ts';

/** Calls that are stored: several pages of every list. */
const STORED = 500;
/** They read values again that change without an event. */
const POLLING: readonly string[] = ['nodes', 'metrics', 'upstreams'];
const TALL = { width: 1920, height: 1080 };

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, remove] });
  addUpstreams(board).change();
  await aDevice(board.server.platform.engine, [{ name: 'camera', schema: { type: 'object' } }]);
  await fillCalls(board.server.store, STORED);
  for (const run of ['r', 's'])
    await board.server.ask({
      method: 'POST',
      path: '/v1/tools/toy.remove/invoke',
      body: { run_id: run, args: { path: '/x' } },
    });
});
afterAll(async () => {
  await board?.close();
});

/** The requests of a page to the API, until it is live, shows no placeholder, and has a response to each of them. */
async function requestsOf(page: Page, path: string): Promise<string[]> {
  const sent: string[] = [];
  const open = new Set<Request>();
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (!pathname.startsWith('/v1/')) return;
    sent.push(`${request.method()} ${pathname}${search}`);
    open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  await page.goto(`${board.url}/ui/${path}`);
  await page.locator('[data-live="live"]').waitFor();
  await page.locator('h1').first().waitFor();
  await page.locator('[data-badge="approvals"]').waitFor();
  await page.locator('[data-state="loading"]').first().waitFor({ state: 'detached' });
  await expect.poll(() => open.size).toBe(0);
  return sent;
}

describe('a page', () => {
  it('requests the numbers of the navigation, not the lists that it counts', async () => {
    const { page, done } = await board.open('/ui/settings');
    const sent = await requestsOf(page, 'settings');
    for (const [name, count] of [
      ['approvals', '2'],
      ['calls', '2'],
      ['devices', '1'],
      ['upstreams', '2'],
    ] as const)
      await page.locator(`[data-badge="${name}"] [aria-hidden]`, { hasText: count }).waitFor();
    expect(sent).toContain('GET /v1/stats');
    expect(sent.filter((one) => /approvals|devices|upstreams|tool_calls|tools/.test(one))).toEqual([]);
    await done();
  });

  it.each(CONSOLE_PAGES.filter((name) => !POLLING.includes(name)))(
    'sends each request once: %s',
    async (name) => {
      const { page, done } = await board.open('/ui/settings');
      const sent = await requestsOf(page, name);
      expect(sent.filter((one, at) => sent.indexOf(one) < at)).toEqual([]);
      await done();
    },
  );

  it.each([
    ['calls', '/v1/tool_calls', '[data-call]'],
    ['runs', '/v1/runs', '[data-run]'],
    ['ledger', '/v1/ledger', '[data-row]'],
  ])('requests one page of a long list, also in a tall window: %s', async (name, path, row) => {
    const { page, done } = await board.open('/ui/settings', { viewport: TALL });
    const sent = await requestsOf(page, name);
    await page.locator(row).first().waitFor();
    expect(sent.filter((one) => one.startsWith(`GET ${path}?`))).toEqual([
      expect.stringMatching(/[?&]limit=50(&|$)/),
    ]);
    await done();
  });
});
