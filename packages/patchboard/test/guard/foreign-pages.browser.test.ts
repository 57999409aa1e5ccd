import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform, recordOf, type TestPlatform } from './support/a-platform.ts';
import { ATTACKS } from './support/attacks.ts';
import { aBrowser } from './support/browser.ts';
import { echoTool } from './support/scene.ts';

const REBOUND = 'rebound.example';

let browser: Browser;
let evil: Server;
let evilPort: number;
/** Local mode: a request that gets in needs no credential at all. */
let server: TestPlatform;

beforeAll(async () => {
  evil = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title><body></body>');
  }).listen(0, '127.0.0.1');
  await once(evil, 'listening');
  evilPort = (evil.address() as AddressInfo).port;
  [browser, server] = await Promise.all([aBrowser([REBOUND]), aPlatform({ tools: [echoTool] })]);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  evil.close();
});

/** A page of the attacker, in a profile of its own; `statuses` is what the browser got from the server. */
async function evilPage(
  url: string,
  isLoggedIn: boolean,
): Promise<{ page: Page; context: BrowserContext; statuses: Set<number> }> {
  const context = await browser.newContext();
  if (isLoggedIn) await logIn(context);
  const page = await context.newPage();
  // A name that is rebound after the page was loaded has the server's own port.
  if (url.startsWith(`http://${REBOUND}`)) {
    await page.route(url, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><body></body>' }),
    );
  }
  await page.goto(url);
  const statuses = new Set<number>();
  context.on('response', (response) => {
    if (new URL(response.url()).port === String(server.port)) statuses.add(response.status());
  });
  return { page, context, statuses };
}

async function logIn(context: BrowserContext): Promise<void> {
  const opened = await context.request.post(`http://127.0.0.1:${server.port}/v1/session`, {
    data: { token: server.operatorToken },
  });
  expect(opened.status()).toBe(200);
}

/** As a page of ours asks: the cookie comes by itself, the proof from where the login left it. */
async function keysFrom(page: Page): Promise<number> {
  return await page.evaluate(async () => {
    const proof = localStorage.getItem('patchboard.session-proof') ?? '';
    return (await fetch('/v1/keys', { headers: { 'x-session-proof': proof } })).status;
  });
}

const PLACES = [
  { place: 'another port of this machine', url: () => `http://127.0.0.1:${evilPort}/`, target: '127.0.0.1' },
  { place: 'another name of this machine', url: () => `http://localhost:${evilPort}/`, target: '127.0.0.1' },
  { place: 'a foreign name', url: () => `http://${REBOUND}:${evilPort}/`, target: '127.0.0.1' },
  { place: 'a name rebound to us', url: () => `http://${REBOUND}:${server.port}/x`, target: REBOUND },
];

describe.each(PLACES)('a page at $place', ({ url, target }) => {
  it.each([
    ['without a login', false],
    ["with the operator's session in the browser", true],
  ])('causes nothing, %s', async (_when, isLoggedIn) => {
    const { page, context, statuses } = await evilPage(url(), isLoggedIn);
    const before = await recordOf(server.store);
    const outcomes: Record<string, string> = {};
    for (const { name, run } of ATTACKS) {
      outcomes[name] = await page.evaluate(run, `http://${target}:${server.port}`);
    }
    expect(await recordOf(server.store)).toEqual(before);
    // Whatever the browser let through was refused by the server; what it could not read, it did not read.
    expect([...statuses].filter((status) => status !== 403 && status !== 421)).toEqual([]);
    expect(statuses.size).toBeGreaterThan(0);
    expect(Object.values(outcomes)).not.toContain('open');
    expect(Object.values(outcomes)).not.toContain('loaded');
    expect(server.platform.engine.clientQueues.isOnline('default', 'lender')).toBe(false);
    await context.close();
  });

  it('gets nothing by sending the whole window there', async () => {
    const { page, context, statuses } = await evilPage(url(), true);
    const before = await recordOf(server.store);
    const to = `http://${target}:${server.port}`;
    const arrived = page.waitForResponse((response) => response.url().startsWith(`${to}/v1/`));
    await page.evaluate((origin) => {
      const form = document.createElement('form');
      form.method = 'post';
      form.enctype = 'text/plain';
      form.action = `${origin}/v1/tools/toy.echo/invoke`;
      document.body.append(form);
      form.submit();
    }, to);
    await arrived;
    expect(await recordOf(server.store)).toEqual(before);
    expect([...statuses].every((status) => status === 403 || status === 421)).toBe(true);
    await context.close();
  });
});

describe('the test itself', () => {
  it('would notice: where its origin is allowed, the same page makes a call', async () => {
    const open = await aPlatform({
      tools: [echoTool],
      config: { http: { allowed_origins: [`http://127.0.0.1:${evilPort}`] } },
    });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${evilPort}/`);
    const outcome = await page.evaluate(
      async (url) =>
        await fetch(`${url}/v1/tools/toy.echo/invoke`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"run_id":"invited","args":{}}',
        }).then((response) => response.status),
      `http://127.0.0.1:${open.port}`,
    );
    expect(outcome).toBe(202);
    expect((await open.store.ledgerHead()).seq).toBeGreaterThan(0);
    await context.close();
    await open.close();
  });
});

describe("the operator's session", () => {
  it('opens operator routes at our own origin, is out of reach of scripts, and ends with the logout', async () => {
    const context = await browser.newContext();
    const origin = `http://127.0.0.1:${server.port}`;
    const page = await context.newPage();
    await page.goto(`${origin}/#login=${server.platform.loginToken()}`);
    await page.locator('#login:not(:empty)').waitFor();
    expect(await keysFrom(page)).toBe(200);
    // The cookie alone, as any other port of the host would get it, opens nothing.
    expect((await page.goto(`${origin}/v1/keys`))?.status()).toBe(403);
    const home = await page.goto(`${origin}/`);
    expect(home?.status()).toBe(200);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    const [cookie] = await context.cookies(origin);
    expect(cookie).toMatchObject({
      name: 'patchboard_session',
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
    });
    expect((await context.request.delete(`${origin}/v1/session`)).status()).toBe(200);
    await context.addCookies([cookie!]);
    expect(await keysFrom(page)).toBe(403);
    await context.close();
  });

  it('comes from a login link, once, and the link is gone from the address', async () => {
    const origin = `http://127.0.0.1:${server.port}`;
    const link = `${origin}/#login=${server.platform.loginToken()}`;
    const visit = async (): Promise<{ said: string; url: string; keys: number | undefined }> => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(link);
      const status = page.locator('#login:not(:empty)');
      await status.waitFor();
      const said = ((await status.textContent()) ?? '').trim();
      const url = page.url();
      const keys = await keysFrom(page);
      await context.close();
      return { said, url, keys };
    };
    expect(await visit()).toEqual({
      said: 'You are signed in as operator.',
      url: `${origin}/ui/tester`,
      keys: 200,
    });
    const again = await visit();
    expect(again).toMatchObject({ url: `${origin}/ui/tester`, keys: 403 });
    expect(again.said).toContain('used before');
  });
});
