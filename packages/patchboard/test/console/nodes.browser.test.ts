import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodesView, NodeView } from '@patchboard/wire';
import type { Page } from 'playwright-core';
import { aConsole, type TestConsole } from './support/a-console.ts';

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole();
});
afterAll(async () => {
  await board?.close();
});

const AT = '2026-01-01T00:00:00.000Z';
const NODE: NodeView = {
  writer: 1,
  epoch: 3,
  is_self: true,
  state: 'running',
  holder: 'board-a, process 12',
  url: 'http://10.0.0.1:8080',
  version: '1.2.3',
  fingerprint: 'aa11bb22cc33',
  room: 60,
  calls: 4,
  last_beat_ms: 310,
  started_at: AT,
  took_over: { writer: 2, at: AT, calls: 1 },
};
const DEAD: NodeView = { ...NODE, writer: 2, is_self: false, last_beat_ms: 2600, took_over: null };

/** The page shows these nodes, whatever the server has. */
async function showNodes(page: Page, view: () => NodesView): Promise<void> {
  await page.route('**/v1/nodes', (route) => route.fulfill({ json: view() }));
}

describe('the page of nodes', () => {
  it('shows a server that is alone', async () => {
    const { page, done } = await board.open('/ui/nodes');
    await page.locator('[data-node="1"] [data-state="running"]').waitFor();
    await page.locator('[data-node="1"] [data-self]').waitFor();
    await page.locator('[data-alone]', { hasText: 'There is one node' }).waitFor();
    expect(await page.locator('[data-differs]').count()).toBe(0);
    const body = { run_id: 'r', args: { expression: '1' } };
    await board.server.ask({ method: 'POST', path: '/v1/tools/calculation.eval/invoke', body });
    await page.goto(`${board.url}/ui/calls`);
    await page.locator('[data-call]').waitFor();
    expect(await page.locator('[data-nodes]').count()).toBe(0);
    await page.goto(`${board.url}/ui/metrics`);
    await page.getByText('Queue', { exact: true }).first().waitFor();
    expect(await page.locator('[data-all-nodes], [data-of-nodes]').count()).toBe(0);
    await done();
  });

  it('follows a takeover, and shows a difference of configurations, in both languages', async () => {
    let view: NodesView = { same_config: true, nodes: [{ ...NODE, took_over: null }, DEAD] };
    const { page, done } = await board.open('/ui/nodes');
    await showNodes(page, () => view);
    await page.locator('[data-node="2"] [data-state="silent"]').waitFor();
    await page.locator('[data-node="1"]', { hasText: '0.3 s ago' }).waitFor();
    const free = { holder: null, url: null, version: null, fingerprint: null, started_at: null };
    view = { same_config: false, nodes: [NODE, { ...DEAD, ...free, state: 'free', last_beat_ms: null }] };
    await page.locator('[data-node="2"] [data-state="free"]').waitFor();
    await page.locator('[data-node="1"] [data-takeover]', { hasText: '1 call of node 2' }).waitFor();
    await page.locator('[data-differs]', { hasText: 'different configurations' }).waitFor();
    await page.getByRole('button', { name: '切换到中文' }).click();
    await page.locator('[data-node="1"] [data-takeover]', { hasText: '接管了节点 2 的 1 个调用' }).waitFor();
    await page.locator('[data-differs]', { hasText: '各节点的配置' }).waitFor();
    await done();
  });
});
