import { hostname } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchboard/client';
import type { NodesView } from '@patchboard/wire';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startPostgres } from '../../packages/patchboard/test/services/postgres.ts';
import { startServer, type SceneServer } from './server.ts';

export interface TakeoverOptions {
  readonly root: string;
  /** The folder of the pictures. */
  readonly to: string;
  readonly locale: string;
}

const WIDE = { width: 1280, height: 420 };
const NARROW = { width: 390, height: 844 };
const CALLS = 5;

/**
 * Takes pictures of the page of nodes while one of two real servers on one PostgreSQL is killed: its heartbeat stands still,
 * then the other one has taken over its calls.
 */
export async function takeTakeover(browser: Browser, { root, to, locale }: TakeoverOptions): Promise<void> {
  const postgres = await startPostgres({ version: 15 });
  const settings = { DATABASE_URL: postgres.url, PATCHBOARD_OPERATOR_TOKEN: `op_${'s'.repeat(43)}` };
  const [dying, living] = [await startServer(root, settings), await startServer(root, settings)];
  const pages: Page[] = [];
  const openAt = async (options: BrowserContextOptions): Promise<Page> => {
    const page = await open(browser, living, { ...options, locale });
    pages.push(page);
    return page;
  };
  const take = async (page: Page, name: string): Promise<void> => {
    const path = join(to, `${name}.png`);
    await page.screenshot({ path });
    console.log(path);
  };
  try {
    await makeCalls(dying);
    const silent = await openAt({ viewport: WIDE, colorScheme: 'dark' });
    const wide = await openAt({ viewport: WIDE, colorScheme: 'light' });
    const narrow = await openAt({ viewport: NARROW, colorScheme: 'dark' });
    for (const page of [silent, wide, narrow]) await page.locator(nodeWithCalls(1)).waitFor();
    dying.kill();
    await silent.locator('[data-node="1"] [data-state="silent"]').waitFor();
    await take(silent, 'nodes-silent-wide-dark');
    for (const page of [wide, narrow]) {
      await page.locator('[data-node="1"] [data-state="free"]').waitFor();
      await page.locator('[data-node="2"] [data-takeover]', { hasText: String(CALLS) }).waitFor();
      await page.locator(nodeWithCalls(2)).waitFor();
    }
    await take(wide, 'nodes-wide-light');
    await take(narrow, 'nodes-narrow-dark');
  } finally {
    // They request the nodes each second: a request to a stopped server would fail outside of this function.
    for (const page of pages) await page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const page of pages) await page.context().close();
    await dying.stop();
    await living.stop();
    await postgres.close();
  }
}

function nodeWithCalls(writer: number): string {
  return `[data-node="${writer}"] [data-calls]:text-is("${CALLS}")`;
}

/** Calls that wait for an operator. */
async function makeCalls({ url, operatorToken }: SceneServer): Promise<void> {
  const client = createClient({ url, key: operatorToken });
  await client.policy.replace({ default: { requireApprovalTools: ['calculation.*'] } });
  for (let count = 1; count <= CALLS; count += 1)
    await client.invoke('calculation.eval', { expression: `${count} * ${count}` });
}

async function open(
  browser: Browser,
  { url, operatorToken }: SceneServer,
  options: BrowserContextOptions,
): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  // The documents do not name the machine that took the pictures.
  await page.route('**/v1/nodes', async (route) => {
    const response = await route.fetch();
    const view = (await response.json()) as NodesView;
    const nodes = view.nodes.map((node) => ({
      ...node,
      holder: node.holder?.replace(hostname(), `board-${node.writer}`) ?? null,
    }));
    await route.fulfill({ response, json: { ...view, nodes } });
  });
  const link = await createClient({ url, key: operatorToken }).loginLink();
  await page.goto(`${url}${link.url_path}`);
  await page.locator('#login').waitFor();
  await page.goto(`${url}/ui/nodes`);
  await page.locator('[data-live="live"]').waitFor();
  return page;
}
