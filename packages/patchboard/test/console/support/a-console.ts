import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { expect, onTestFailed } from 'vitest';
import { aPlatform, type PlatformGiven, type TestPlatform } from '../../guard/support/a-platform.ts';
import type { TestResponse, Asked } from '../../guard/support/ask.ts';
import { aBrowser, sharedBrowser, type BrowserGiven } from '../../guard/support/browser.ts';

// For hangs only: a browser on a busy machine is slow.
const STEP_MS = 90_000;

/** A real server and a real browser; pages record their violations. */
export interface TestConsole {
  readonly server: TestPlatform;
  readonly url: string;
  readonly browser: Browser;
  /** Signed in as operator by default. */
  open(path: string, options?: OpenOptions): Promise<ConsolePage>;
  close(): Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  readonly isSignedIn?: boolean;
}

interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** URLs of requests to other hosts. */
  readonly foreign: readonly string[];
  /** Fails on a violation of the content policy, an uncaught error or a request to another host; then closes. */
  readonly done: () => Promise<void>;
}

export async function aConsole(given: PlatformGiven & BrowserGiven = {}): Promise<TestConsole> {
  const isOwn = given.hasOwnBrowser === true || given.hasPageCache === true;
  const [server, { browser, release }] = await Promise.all([
    aPlatform(given),
    isOwn ? ownBrowser(given) : sharedBrowser(),
  ]);
  const patient = { ...server, ask: (asked: Asked) => askUntilTaken(server, asked) };
  const url = `http://127.0.0.1:${server.port}`;
  return {
    server: patient,
    url,
    browser,
    open: (path, options) => openPage(browser, server, `${url}${path}`, options ?? {}),
    async close() {
      await release();
      await server.close();
    },
  };
}

async function ownBrowser(given: BrowserGiven): ReturnType<typeof sharedBrowser> {
  const browser = await aBrowser([], given);
  return { browser, release: () => browser.close() };
}

/** Retries requests that a busy server refuses; a refused request has no effect. */
async function askUntilTaken(server: TestPlatform, asked: Asked): Promise<TestResponse> {
  for (;;) {
    const response = await server.ask(asked);
    if (response.status !== 503 || (response.json as { code?: string }).code !== 'overloaded')
      return response;
    await pause(250);
  }
}

async function openPage(
  browser: Browser,
  server: TestPlatform,
  address: string,
  { isSignedIn = true, ...options }: OpenOptions,
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en',
    ...options,
  });
  context.setDefaultTimeout(STEP_MS);
  const wrongs: string[] = [];
  const foreign: string[] = [];
  const { origin } = new URL(address);
  await context.exposeBinding('reportViolation', (_source, what: string) => wrongs.push(`policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const page = globalThis as unknown as { reportViolation(what: string): void };
      page.reportViolation(
        `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
      );
    });
  });
  context.on('weberror', (error) => wrongs.push(`error: ${error.error().stack ?? error.error().message}`));
  context.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== origin && asked.protocol !== 'blob:') foreign.push(request.url());
  });
  const page = await context.newPage();
  reportOnFailure(page);
  const hash = isSignedIn ? `#login=${server.platform.loginToken()}` : '';
  await page.goto(`${address}${hash}`);
  // The console signs in before it mounts: a navigation before that would lose the token.
  await page.locator('#app > *').first().waitFor();
  return {
    page,
    context,
    foreign,
    async done() {
      expect(wrongs).toEqual([]);
      expect(foreign).toEqual([]);
      await context.close();
    },
  };
}

/** Prints what the page shows and which requests are open or failed, when the running test fails. */
function reportOnFailure(page: Page): void {
  const open = new Set<Request>();
  const failed: string[] = [];
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => {
    open.delete(request);
    failed.push(`${request.url()} ${request.failure()?.errorText ?? ''}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) failed.push(`${response.url()} ${response.status()}`);
  });
  onTestFailed(async () => {
    const shown = page.isClosed() ? 'closed' : await page.locator('body').innerText({ timeout: 5000 });
    const state = {
      url: page.url(),
      shown,
      open: [...open].map((one) => one.url()),
      failed: failed.slice(-20),
    };
    process.stderr.write(`${inspect(state, { depth: 3, maxStringLength: 4000 })}\n`);
  });
}

/** Selects an option by keyboard, because the label of the selected option covers the field. */
export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).press('Enter');
  await page.getByRole('option', { name: option, exact: true }).click();
}
