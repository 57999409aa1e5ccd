import type { NodesView } from '@patchboard/wire';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { aCluster, type TestNode } from '../cluster/support/a-node.ts';
import { sharedBrowser } from '../guard/support/browser.ts';
import { waitFor } from '../support/wait-for.ts';

let browser: Browser;
let release: (() => Promise<void>) | null = null;
beforeAll(async () => {
  ({ browser, release } = await sharedBrowser());
});
afterAll(async () => {
  await release?.();
});

// For hangs only: a browser on a busy machine is slow.
const STEP_MS = 90_000;

/** A page of the node's console, signed in as operator. */
async function openAt(node: TestNode, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  await page.goto(`${node.url}${path}#login=${await node.loginToken()}`);
  await page.locator('#app > *').first().waitFor();
  return page;
}

async function writersOf(asked: TestNode, other: TestNode): Promise<readonly number[]> {
  const { nodes: shown } = (await asked.get('/v1/nodes')).json as NodesView;
  return [asked, other].map(({ url }) => {
    const writer = shown.find((one) => one.url === url)?.writer;
    if (writer === undefined) throw new Error(`no node has the address ${url}`);
    return writer;
  });
}

it('the console of a node shows the takeover of another without a reload, and which node has each call', async () => {
  const cluster = await aCluster();
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  const [writerOfA = 0, writerOfB = 0] = await waitFor(() => writersOf(a, b));
  const [running, waiting] = [await a.invoke('test.effect', 60_000), await a.invoke('test.risky', 0)];
  const page = await openAt(b, '/ui/nodes');
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  const [dead, living] = [
    page.locator(`[data-node="${writerOfA}"]`),
    page.locator(`[data-node="${writerOfB}"]`),
  ];
  await dead.locator('[data-state="running"]').waitFor();
  await dead.locator('[data-calls]', { hasText: '2' }).waitFor();
  await living.locator('[data-self]').waitFor();
  expect(await page.locator('[data-alone]').count()).toBe(0);

  a.signal('SIGKILL');
  await dead.locator('[data-state="free"]').waitFor();
  await living.locator('[data-takeover]', { hasText: `2 calls of node ${writerOfA}` }).waitFor();
  // The other call was sealed.
  await living.locator('[data-calls]', { hasText: '1' }).waitFor();
  await dead.locator('[data-calls]', { hasText: '0' }).waitFor();
  await page.locator('[data-alone]', { hasText: 'One node runs now' }).waitFor();
  expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.goto(`${b.url}/ui/calls`);
  for (const { tool_call_id: id } of [running, waiting])
    await page.locator(`[data-call="${id}"] [data-node]`, { hasText: String(writerOfB) }).waitFor();
  await page.goto(`${b.url}/ui/calls/${waiting.tool_call_id}`);
  await page.locator('.facts [data-node]', { hasText: String(writerOfB) }).waitFor();
  await page.goto(`${b.url}/ui/metrics`);
  await page.locator('[data-all-nodes]').waitFor();
  await page.locator('[data-of-nodes]', { hasText: `node ${writerOfB}` }).waitFor();
  await page.context().close();
});
