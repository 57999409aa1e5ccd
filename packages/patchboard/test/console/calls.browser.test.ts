import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform } from '../guard/support/a-platform.ts';
import { accepted, aPrincipal, aRequest } from '../support/an-engine.ts';
import { pythonWithRequests } from '../support/python.ts';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo, endless, remove } from './support/toys.ts';
import { waitFor } from '../support/wait-for.ts';

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, endless, remove] });
});
afterAll(async () => {
  await board?.close();
});

async function invoke(tool: string, args: unknown = {}, agent = 'local'): Promise<string> {
  const response = await board.server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers: { 'x-agent-id': agent },
    body: { run_id: `run-of-${agent}`, args },
  });
  return (response.json as { tool_call_id: string }).tool_call_id;
}

describe('the list', () => {
  it('says how to fill it when it is empty, then shows each call as it happens', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.locator('[data-state="empty"]', { hasText: 'npx patchboard call' }).waitFor();
    const id = await invoke('toy.endless');
    await page.locator(`[data-call="${id}"] [data-state="EXECUTING"]`).waitFor();
    await board.server.ask({ method: 'POST', path: `/v1/tool_calls/${id}/cancel`, body: {} });
    await page.locator(`[data-call="${id}"] [data-state="CANCELLED"]`).waitFor();
    await done();
  });

  it('keeps its filters in the address', async () => {
    const mine = await invoke('toy.echo', { n: 1 }, 'mine');
    const other = await invoke('toy.echo', { n: 2 }, 'other');
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${other}"]`).waitFor();
    await page.getByLabel('Agent', { exact: true }).fill('mine');
    await page.locator(`[data-call="${other}"]`).waitFor({ state: 'detached' });
    await page.locator(`[data-call="${mine}"]`).waitFor();
    await page.waitForURL('**agent=mine*');
    await page.reload();
    await page.locator(`[data-call="${mine}"]`).waitFor();
    expect(await page.locator('[data-call]').count()).toBe(1);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.locator(`[data-call="${other}"]`).waitFor();
    await done();
  });

  it('drops rows that were requested under a former filter', async () => {
    const mine = await invoke('toy.echo', { n: 1 }, 'filtered');
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${mine}"]`).waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const isUnfiltered = (url: URL): boolean =>
      url.pathname === '/v1/tool_calls' && !url.searchParams.has('agent_id');
    await page.route(isUnfiltered, async (route) => {
      await held;
      await route.continue();
    });
    const requested = page.waitForRequest((request) => isUnfiltered(new URL(request.url())));
    await invoke('toy.echo', { n: 2 }, 'unfiltered');
    await requested;
    await page.getByLabel('Agent', { exact: true }).fill('filtered');
    await page.waitForURL('**/ui/calls?agent=filtered');
    await page.locator('[data-call]').nth(1).waitFor({ state: 'detached' });
    const late = page.waitForResponse((response) => isUnfiltered(new URL(response.url())));
    release();
    await (await late).finished();
    // When the page shows a later call, it has read the late response.
    const next = await invoke('toy.echo', { n: 3 }, 'filtered');
    await page.locator(`[data-call="${next}"]`).waitFor();
    expect(await page.locator('[data-call]').count()).toBe(2);
    await done();
  });

  it('does not move under the pointer, and counts new calls', async () => {
    await invoke('toy.echo');
    const { page, done } = await board.open('/ui/calls');
    await page.locator('[data-call]').first().hover();
    const first = await page.locator('[data-call]').first().getAttribute('data-call');
    await invoke('toy.echo');
    const late = await invoke('toy.echo');
    await page.locator('[data-new]', { hasText: '2 new calls' }).waitFor();
    expect(await page.locator('[data-call]').first().getAttribute('data-call')).toBe(first);
    await page.locator('[data-new]').click();
    await page.locator(`[data-call="${late}"]`).waitFor();
    await done();
  });

  it('is walked by keyboard', async () => {
    const id = await invoke('toy.echo', { last: true });
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${id}"]`).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/ui/calls/${id}*`);
    await done();
  });
});

describe('one call', () => {
  it('names the MCP client that made it, in the list too and in both languages', async () => {
    const origin = { mcpClient: { name: 'claude-code', version: '2.1' } };
    const request = aRequest({ toolName: 'toy.echo', origin });
    const { id } = accepted(await board.server.platform.engine.submit(request, aPrincipal()));
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${id}"] [data-via]`, { hasText: 'via claude-code 2.1 (MCP)' }).waitFor();
    await page.goto(`${board.url}/ui/calls/${id}`);
    await page.locator('.facts [data-via]', { hasText: 'via claude-code 2.1 (MCP)' }).waitFor();
    await done();
    const chinese = await board.open(`/ui/calls/${id}`, { locale: 'zh-CN' });
    await chinese.page.locator('.facts [data-via]', { hasText: '通过 claude-code 2.1（MCP）' }).waitFor();
    await chinese.done();
  });

  it('says why it was allowed, what it took and what came of it, and can be replayed', async () => {
    const id = await invoke('toy.echo', { word: 'hello' });
    const { page, done } = await board.open(`/ui/calls/${id}`);
    await page.locator('[data-stretch="EXECUTING"]').waitFor();
    await page.getByText('the tool is not marked as risky').waitFor();
    await page.getByRole('region', { name: 'Result' }).filter({ hasText: 'hello' }).waitFor();
    await page.locator('[data-replay]').click();
    await page.waitForURL(
      (address) => address.pathname.includes('/calls/tc_') && !address.pathname.endsWith(id),
    );
    await page.getByRole('link', { name: id }).waitFor();
    await page.locator('[data-edit-replay]').click();
    await page.waitForURL('**/ui/tester?*replay=*');
    await page.locator('[data-field="/word"] input, [data-field="/word"] textarea').first().fill('"changed"');
    await page.locator('[data-run]').click();
    await page.locator('[data-result] [data-state="COMPLETED"]').waitFor();
    await page.getByRole('region', { name: 'Result' }).filter({ hasText: 'changed' }).waitFor();
    await done();
  });

  it('shows progress while it runs, and can be cancelled', async () => {
    const id = await invoke('toy.endless');
    const { page, done } = await board.open(`/ui/calls/${id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('main [data-state="CANCELLED"]').first().waitFor();
    await done();
  });

  it('leads to its approval while it waits', async () => {
    const id = await invoke('toy.remove', { path: '/p' });
    const { page, done } = await board.open(`/ui/calls/${id}`);
    await page.getByRole('link', { name: 'waits for an operator' }).click();
    await page.locator('[data-approval-detail]', { hasText: '/p' }).waitFor();
    await done();
  });

  it('is shown as expired without a decision in time, and as waiting before', async () => {
    const server = await aPlatform({ tools: [remove], config: { limits: { approval_expiry_ms: 20 } } });
    const asked = await server.ask({
      method: 'POST',
      path: '/v1/tools/toy.remove/invoke',
      headers: { prefer: 'wait=30' },
      body: { run_id: 'r', args: { path: '/p' } },
    });
    const { tool_call_id: id, state } = asked.json as { tool_call_id: string; state: string };
    expect(state).toBe('DENIED');
    const context = await board.browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${server.port}/ui/calls#login=${server.platform.loginToken()}`);
    const row = page.locator(`[data-call="${id}"]`);
    await row.locator('[data-state="EXPIRED"]', { hasText: 'Expired' }).waitFor();
    const headings = await page.getByRole('columnheader').allInnerTexts();
    expect(headings.slice(-3)).toEqual(['Waited', 'Ran', 'Total']);
    const [waited, ran, total] = (await row.getByRole('cell').allInnerTexts()).slice(-3);
    expect([ran, waited]).toEqual(['0 ms', total]);
    expect(waited).not.toBe('0 ms');
    await row.getByRole('link').click();
    await page.locator('main dd', { hasText: 'without a decision' }).waitFor();
    await page.locator('[data-ran]', { hasText: '0 ms' }).waitFor();
    await page.getByText('waits for an operator').waitFor({ state: 'detached' });
    await context.close();
    await server.close();
  });

  // The last one: with the first key local mode is over.
  it('is shown as code before it is copied, which sends a key once there are keys, and runs', async () => {
    const args = { sure: true, none: null, word: "it's" };
    const id = await invoke('toy.echo', args);
    const { page, done } = await board.open(`/ui/calls/${id}`);
    const shown = async (form: string): Promise<string> => {
      await page.locator('[data-code]').getByRole('tab', { name: form }).click();
      const region = page.locator('[data-code]').getByRole('region', { name: form });
      await region.filter({ hasText: 'toy.echo' }).waitFor();
      return await region.innerText();
    };
    await page.locator('[data-copy-as]').click();
    expect(await shown('curl')).not.toContain('PATCHBOARD_KEY');
    const { secret } = await board.server.mint({ kind: 'agent', name: 'researcher' });
    await page.reload();
    await page.locator('[data-copy-as]').click();
    await page.locator('[data-code]', { hasText: '$PATCHBOARD_KEY' }).waitFor();
    const options = { cwd: ROOT, env: { ...cleanEnvironment(), PATCHBOARD_KEY: secret } };
    for (const [form, program, said] of [
      ['curl', 'sh', '"said":{"sure":true,"none":null'],
      ['Python', pythonWithRequests(), "'said': {'sure': True, 'none': None"],
    ] as const) {
      const code = await shown(form);
      // A busy machine makes a server turn requests away for a moment.
      const out = await waitFor(async () => {
        const ran = await runCommand(program, ['-c', code], options);
        expect(ran.out, ran.error).toContain('SUCCEEDED');
        return ran.out;
      });
      expect(out).toContain(said);
    }
    await done();
  });
});
