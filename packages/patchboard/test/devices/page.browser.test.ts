import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { aBrowser } from '../guard/support/browser.ts';
import { blocksOf } from '../readme/markdown.ts';
import { ROOT } from '../support/server-process.ts';
import { callId, ended, toolNames } from './support/agent.ts';
import { waitFor } from '../support/wait-for.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The page of the guide, as a reader copies it. */
const GUIDE = blocksOf(readFileSync(join(ROOT, 'docs/guides/devices.md'), 'utf8')).find(
  ({ language }) => language === 'html',
)!.code;
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };

let pages: Server;
let origin: string;
let html = '';
let browser: Browser;
let server: TestPlatform;

beforeAll(async () => {
  // The built client is what a page is given.
  pages = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '');
    response.setHeader('content-type', TYPES[extname(path)] ?? 'text/plain');
    const text = path === '/index.html' ? Promise.resolve(html) : readFile(join(ROOT, path));
    text.then(
      (found) => response.end(found),
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
  const limits = { device_heartbeat_ms: 500, device_grace_ms: 2000 };
  [browser, server] = await Promise.all([
    aBrowser([]),
    aPlatform({ config: { http: { allowed_origins: [origin] }, limits } }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  pages.close();
});

type Change = readonly [from: string, to: string];

async function openPage(
  changes: readonly Change[] = [],
  from = origin,
): Promise<{ page: Page; context: BrowserContext }> {
  html = [['http://127.0.0.1:8080', `http://127.0.0.1:${server.port}`] as Change, ...changes].reduce(
    (text, [before, after]) => text.replace(before, () => after),
    GUIDE,
  );
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(from);
  return { page, context };
}

const says = (page: Page, words: string): Promise<void> =>
  page.locator('#log', { hasText: words }).waitFor({ timeout: 60_000 });
const isIn = (page: Page, state: string): Promise<void> =>
  page.locator('#state').getByText(state, { exact: true }).waitFor({ timeout: 60_000 });
const withKey = (key: string): Change => ["name: 'my-page',", `name: 'my-page', key: '${key}',`];

describe('the page of the guide', () => {
  it('lends its tool, sleeps and wakes, goes away and comes back, and is loaded again', async () => {
    const { page, context } = await openPage();
    await isIn(page, 'online');
    const greeted = await ended(server, await callId(server, 'page.greet', { args: { name: 'Ada' } }));
    expect(greeted.result).toEqual({ said: 'Hello, Ada!' });
    await says(page, 'Hello, Ada!');

    const driver = await context.newCDPSession(page);
    await driver.send('Page.setWebLifecycleState', { state: 'frozen' });
    const asleep = await callId(server, 'page.greet', { args: { name: 'sleeper' } });
    await driver.send('Page.setWebLifecycleState', { state: 'active' });
    expect((await ended(server, asleep)).result).toEqual({ said: 'Hello, sleeper!' });

    await context.setOffline(true);
    await says(page, 'the server sends no heartbeats any more');
    await context.setOffline(false);
    await isIn(page, 'online');
    const back = await callId(server, 'page.greet', { args: { name: 'again' } });
    expect((await ended(server, back)).result).toEqual({ said: 'Hello, again!' });

    await page.reload();
    await isIn(page, 'online');
    expect(await toolNames(server)).toEqual(['page.greet']);
    await context.close();
    await waitFor(async () => expect(await toolNames(server)).toEqual([]));
  });

  it('says which tool was not taken, and why', async () => {
    const { page, context } = await openPage([
      ["{ type: 'object', properties", "{ type: 'objekt', properties"],
    ]);
    await says(page, 'page.greet: schema: at /type');
    await isIn(page, 'online');
    expect(await toolNames(server)).toEqual([]);
    await context.close();
  });

  it('reports a possible refusal if the browser gives no details', async () => {
    const { page, context } = await openPage([], origin.replace('localhost', '127.0.0.1'));
    await says(page, 'the socket did not open');
    await says(page, 'refuses the origin of this page');
    await context.close();
  });

  it('says what is wrong with its key, and is let in with the right one', async () => {
    const right = await server.mint({ kind: 'client', name: 'page' });
    const agent = await server.mint({ kind: 'agent', name: 'caller' });
    for (const [key, words] of [
      ['pb_nobody', 'this is not a key of this server'],
      [agent.secret, 'the credential lacks the scope tools:serve'],
    ] as const) {
      const { page, context } = await openPage([withKey(key)]);
      await says(page, words);
      expect(await page.locator('#log').innerText()).not.toContain('1006');
      await context.close();
    }
    const { page, context } = await openPage([withKey(right.secret)]);
    await isIn(page, 'online');
    await context.close();
  });
});
