import { mcpClientConfig } from '@patchboard/wire';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo } from './support/toys.ts';

const broken = aServerTool({
  name: 'toy.broken',
  execute: () => Promise.reject(new Error('the disk is on fire')),
});

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, broken] });
});
afterAll(async () => {
  await board?.close();
});

const block = (page: Page, name: string) => page.locator('[data-mcp]').getByRole('region', { name });

async function jsonOf(page: Page, name: string): Promise<unknown> {
  await block(page, name).waitFor();
  return JSON.parse(await block(page, name).innerText()) as unknown;
}

/** The shown request, sent to the server as it is. */
async function send(request: unknown): Promise<{ result: { _meta: Record<string, unknown> } }> {
  const { json } = await board.server.ask({ method: 'POST', path: '/mcp', body: request });
  return json as { result: { _meta: Record<string, unknown> } };
}

async function callsOf(tool: string): Promise<number> {
  const { json } = await board.server.asOperator('GET', `/v1/tool_calls?tool_name=${tool}`);
  return (json as { tool_calls: unknown[] }).tool_calls.length;
}

describe('the MCP form in the tester', () => {
  it('has the tool and the request before a run, and the response after it, without a second call', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.echo&args=%7B%22n%22%3A1%7D', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('tab', { name: 'MCP' }).click();
    const { json } = await board.server.ask({ method: 'GET', path: '/v1/tools?format=mcp' });
    const listed = (json as { tools: { title: string }[] }).tools.find(({ title }) => title === 'toy.echo');
    expect(listed).toMatchObject({ name: 'toy__echo', annotations: { readOnlyHint: true } });
    expect(await jsonOf(page, 'Tool')).toEqual(listed);
    const request = await jsonOf(page, 'Request');
    expect(request).toMatchObject({
      method: 'tools/call',
      params: { name: 'toy__echo', arguments: { n: 1 } },
    });
    await page.keyboard.press('Control+Enter');
    await page.locator('[data-result] [data-state="COMPLETED"]').waitFor();
    const shown = (await jsonOf(page, 'Response')) as { result: { _meta: Record<string, unknown> } };
    expect(shown).toMatchObject({
      result: {
        content: [{ type: 'text', text: '{"said":{"n":1}}' }],
        structuredContent: { said: { n: 1 } },
        isError: false,
      },
    });
    const id = String(shown.result._meta['patchboard/tool_call_id']);
    expect(await page.getByRole('link', { name: 'Open call' }).getAttribute('href')).toContain(id);
    expect(await callsOf('toy.echo')).toBe(1);

    // What an MCP client gets for the request that is shown: the same, of another call.
    const sent = await send(request);
    expect({ ...sent, result: { ...sent.result, _meta: shown.result._meta } }).toEqual(shown);

    await page.locator('[data-mcp]').getByRole('button', { name: 'Copy' }).first().click();
    await waitFor(async () => {
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(JSON.parse(copied)).toEqual(request);
    });
    await done();
  });

  it('shows a failure as its model would read it, is reached by keyboard, and speaks Chinese', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.broken&pane=sandbox', {
      locale: 'zh-CN',
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
    });
    await page.locator('[data-run]:not([disabled])').click();
    await page.locator('[data-result] [data-state="FAILED"]').waitFor();
    await page.locator('[data-result] [data-tab="result"]').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await jsonOf(page, '响应')).toMatchObject({
      result: {
        content: [{ type: 'text', text: expect.stringContaining('the disk is on fire') as string }],
        isError: true,
        _meta: { 'patchboard/error': { code: 'tool_failed' } },
      },
    });
    expect(await jsonOf(page, '工具')).toMatchObject({ name: 'toy__broken' });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await done();
  });
});

describe('connecting an MCP client', () => {
  const shown = async (page: Page, client: string): Promise<string> => {
    await page.locator('[data-connect-mcp]').getByRole('tab', { name: client }).click();
    return (await page.locator('[data-config]').innerText()).trim();
  };

  // With the first key local mode is over: this one is the last.
  it('shows the URL and what to paste, with a key once there are keys, in both languages', async () => {
    const { page, done } = await board.open('/ui/tools');
    await page.locator('[data-connect]').click();
    await page.locator('[data-mcp-url]', { hasText: `${board.url}/mcp` }).waitFor();
    const connection = { kind: 'http', url: `${board.url}/mcp` } as const;
    await page.locator('[data-needs-key]').waitFor({ state: 'detached' });
    expect(await shown(page, 'Claude Code')).toBe(`claude mcp add --transport http pb ${board.url}/mcp`);
    expect(await shown(page, 'Cursor')).toBe(mcpClientConfig('cursor', connection)?.text);
    expect(await shown(page, 'VS Code')).toBe(mcpClientConfig('vscode', connection)?.text);
    await page.getByRole('tab', { name: 'Claude Desktop' }).click();
    await page.getByText(`npx patchboard mcp config --client claude-desktop --url ${board.url}`).waitFor();
    await page.waitForURL('**connect=claude-desktop*');

    await board.server.mint({ kind: 'agent', name: 'researcher' });
    await page.reload();
    await page.getByRole('tab', { name: 'Claude Code' }).click();
    await page.locator('[data-needs-key]').getByRole('link', { name: 'Create a key' }).waitFor();
    expect(await shown(page, 'Claude Code')).toContain("--header 'Authorization: Bearer pb_…'");
    await page.locator('[data-needs-key]').getByRole('link').click();
    await page.locator('[data-create-key]').waitFor();
    await done();

    const chinese = await board.open('/ui/tools?connect=vscode', {
      locale: 'zh-CN',
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
    });
    await chinese.page.locator('[data-connect-mcp]', { hasText: '工作区的 .vscode/mcp.json' }).waitFor();
    expect(await shown(chinese.page, 'VS Code')).toContain('Bearer pb_…');
    const overflow = await chinese.page.evaluate(() => {
      const drawer = document.querySelector('[data-connect-mcp]')!.parentElement!;
      return drawer.scrollWidth - drawer.clientWidth;
    });
    expect(overflow).toBeLessThanOrEqual(0);
    await chinese.page.keyboard.press('Escape');
    await chinese.page.waitForURL((url) => !url.search.includes('connect'));
    await chinese.done();
  });
});
