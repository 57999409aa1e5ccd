import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createClient } from '@patchboard/client';
import { OPERATOR_TOKEN } from '../key.ts';
import type { MeasuredPage, ShownIds } from './console-pages.ts';
import { recordRequests, type ApiRequest, type PageRequests } from './page-requests.ts';

const POLL_MS = 50;
/** Longer than the console waits before it reads again after an event. */
const SETTLED_MS = 500;
/** For a page that hangs. */
const LIMIT_MS = 60_000;
const SIZE = { width: 1280, height: 800 };
const OBSERVE = `globalThis.measured = { lcp: 0, longestTask: 0 };
new PerformanceObserver((list) => {
  for (const { startTime } of list.getEntries()) measured.lcp = startTime;
}).observe({ type: 'largest-contentful-paint', buffered: true });
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) measured.longestTask = Math.max(measured.longestTask, duration);
}).observe({ type: 'longtask', buffered: true });`;

/** What opening a page took, until it requested nothing more. */
export interface PageLoad {
  readonly lcpMs: number;
  /** 0: none took 50 ms. */
  readonly longestTaskMs: number;
  readonly bytes: number;
  readonly api: readonly ApiRequest[];
  /** Rows of its list in the document; null if it has none. */
  readonly rowsShown: number | null;
}

type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Signs in as operator, and returns what the browser keeps of that. */
export async function signIn(browser: Browser, url: string): Promise<SignedIn> {
  const context = await browser.newContext();
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const link = await createClient({ url, key: OPERATOR_TOKEN }).loginLink();
  await page.goto(`${url}${link.url_path}`);
  await page.locator('[data-live="live"]').waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Opens a page in a new profile: with nothing in its caches. */
export async function loadPage(
  browser: Browser,
  { url, signedIn, shown }: { url: string; signedIn: SignedIn; shown: ShownIds },
  { path, ready, row }: MeasuredPage,
): Promise<PageLoad> {
  const context = await browser.newContext({ viewport: SIZE, locale: 'en', storageState: signedIn });
  try {
    context.setDefaultTimeout(LIMIT_MS);
    await context.addInitScript(OBSERVE);
    const page = await context.newPage();
    const requests = await recordRequests(await context.newCDPSession(page));
    await page.goto(`${url}${path(shown)}`);
    await page.locator(ready).first().waitFor();
    await page.locator('[data-live="live"]').waitFor();
    await untilSettled(requests);
    const { lcp, longestTask } = await measuredIn(page);
    const rowsShown = row === undefined ? null : await page.locator(row).count();
    return {
      lcpMs: lcp,
      longestTaskMs: longestTask,
      bytes: requests.bytes,
      api: [...requests.api],
      rowsShown,
    };
  } finally {
    await context.close();
  }
}

async function untilSettled(requests: PageRequests): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (requests.underWay.length > 0 || performance.now() - requests.changedAt < SETTLED_MS) {
    if (performance.now() > end)
      throw new Error(`the page does not stop to send requests: ${requests.underWay.join(', ')}`);
    await sleep(POLL_MS);
  }
}

async function measuredIn(page: Page): Promise<{ lcp: number; longestTask: number }> {
  return (await page.evaluate('measured')) as { lcp: number; longestTask: number };
}
