import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform } from '../guard/support/a-platform.ts';
import { accepted, aPrincipal, aRequest } from '../support/an-engine.ts';
import { pythonWithRequests } from '../support/python.ts';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';
import { aConsole, choose, type TestConsole } from './support/a-console.ts';
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

const query = (page: Page): Locator => page.getByRole('combobox', { name: 'Query' });

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

  it('is filtered by a query that is in the address, and returns to the one before', async () => {
    const mine = await invoke('toy.echo', { n: 1 }, 'mine');
    const other = await invoke('toy.echo', { n: 2 }, 'other');
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${other}"]`).waitFor();
    await query(page).fill('agent:mine');
    await query(page).press('Enter');
    await page.locator(`[data-call="${other}"]`).waitFor({ state: 'detached' });
    await page.locator(`[data-call="${mine}"]`).waitFor();
    expect(new URL(page.url()).searchParams.get('query')).toBe('agent:mine');
    await page.reload();
    await page.locator(`[data-call="${mine}"]`).waitFor();
    expect(await page.locator('[data-call]').count()).toBe(1);
    // A shortcut edits the same query.
    await choose(page, 'State', 'Completed');
    await expect.poll(() => query(page).inputValue()).toBe('agent:mine state:completed');
    await page.goBack();
    await expect.poll(() => query(page).inputValue()).toBe('agent:mine');
    await page.locator('[data-clear]').click();
    await page.locator(`[data-call="${other}"]`).waitFor();
    // A link of before there were queries.
    await page.goto(`${board.url}/ui/calls?agent=mine&state=COMPLETED`);
    await expect.poll(() => query(page).inputValue()).toBe('state:completed agent:mine');
    await page.locator(`[data-call="${mine}"]`).waitFor();
    expect(await page.locator('[data-call]').count()).toBe(1);
    await done();
  });

  it('completes a query by keyboard, and marks what is wrong with it', async () => {
    const { page, done } = await board.open('/ui/calls');
    const bar = query(page);
    await bar.pressSequentially('too');
    await bar.press('Tab');
    await expect.poll(() => bar.inputValue()).toBe('tool:');
    const option = page.getByRole('option', { name: 'toy.endless' });
    await option.waitFor();
    await bar.pressSequentially('end');
    await bar.press('ArrowDown');
    await page.locator('[role=option][aria-selected=true]', { hasText: 'toy.endless' }).waitFor();
    await bar.press('Enter');
    await expect.poll(() => bar.inputValue()).toBe('tool:toy.endless ');
    await bar.pressSequentially('stat');
    await bar.press('Escape');
    await option.waitFor({ state: 'detached' });
    await bar.fill('tol:x ran>2');
    await bar.press('Enter');
    await page.locator('[data-problem]', { hasText: 'Column 1: there is no key "tol"' }).waitFor();
    const [problem] = await page.locator('[data-problem]').all();
    await problem?.getByRole('button').click();
    expect(
      await bar.evaluate((field: HTMLInputElement) => [field.selectionStart, field.selectionEnd]),
    ).toEqual([0, 3]);
    expect(new URL(page.url()).searchParams.get('query')).toBeNull();
    // The rows are those of the query before, and the page says so.
    await page.locator('[data-former]', { hasText: 'still everything' }).waitFor();
    await page.locator('.former [data-call]').first().waitFor();
    await bar.press('Escape');
    await expect.poll(() => bar.inputValue()).toBe('');
    await page.locator('.former, [data-former]').first().waitFor({ state: 'detached' });
    await bar.fill('agent:local');
    await bar.press('Enter');
    await page.waitForURL('**query=agent:local*');
    await bar.fill('agnt:local');
    await bar.press('Enter');
    await page.locator('[data-former]', { hasText: 'agent:local' }).waitFor();
    await bar.fill('agent:local state:open');
    await bar.press('Enter');
    await page.locator('.former, [data-former]').first().waitFor({ state: 'detached' });
    // A link with a wrong query shows what is wrong, and requests nothing.
    await page.goto(`${board.url}/ui/calls?query=stat:failed`);
    await page.locator('[data-state="problem"]').waitFor();
    await page.locator('[data-problem]', { hasText: 'did you mean state' }).waitFor();
    await page.getByRole('button', { name: '切换到中文' }).click();
    await page.locator('[data-problem]', { hasText: '第 1 列' }).waitFor();
    await done();
  });

  it('shows the grammar beside the query', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.locator('[data-query-help]').click();
    await page.locator('[data-query-grammar]', { hasText: 'waited>' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[data-query-grammar]').waitFor({ state: 'detached' });
    expect(await page.locator('[data-query-help]').evaluate((node) => node === document.activeElement)).toBe(
      true,
    );
    await done();
  });

  it('is sorted by a column in either direction', async () => {
    const first = await invoke('toy.echo', { n: 1 }, 'sorted');
    const second = await invoke('toy.echo', { n: 2 }, 'sorted');
    const { page, done } = await board.open('/ui/calls?query=agent:sorted');
    const shown = (): Promise<(string | null)[]> =>
      page
        .locator('[data-call]')
        .evaluateAll((rows) =>
          rows
            .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
            .map((row) => row.getAttribute('data-call')),
        );
    await expect.poll(shown).toEqual([second, first]);
    await page.locator('[data-sort="created"]').click();
    await page.locator('[aria-sort="ascending"]', { hasText: 'Time' }).waitFor();
    await expect.poll(shown).toEqual([first, second]);
    // New calls have no place in this order: the page says so.
    const third = await invoke('toy.echo', { n: 3 }, 'sorted');
    await page.locator('[data-outdated]').waitFor();
    await page.locator('[data-reload]').click();
    await expect.poll(shown).toEqual([first, second, third]);
    await page.locator('[data-sort="ran"]').click();
    await page.waitForURL('**sort=ran*');
    await page.locator('[aria-sort="descending"]', { hasText: 'Ran' }).waitFor();
    await done();
  });

  it('pauses, and counts what is new meanwhile', async () => {
    await invoke('toy.echo', {}, 'paused');
    const { page, done } = await board.open('/ui/calls?query=agent:paused');
    await page.locator('[data-call]').waitFor();
    await page.locator('[data-tail]').click();
    await invoke('toy.echo', {}, 'paused');
    await invoke('toy.echo', {}, 'paused');
    await page.locator('[data-new]', { hasText: '2 new calls' }).waitFor();
    expect(await page.locator('[data-call]').count()).toBe(1);
    await page.locator('[data-tail]').click();
    await expect.poll(() => page.locator('[data-call]').count()).toBe(3);
    await done();
  });

  it('shows refused requests, which lead to their rows in the ledger', async () => {
    const response = await board.server.ask({
      method: 'POST',
      path: '/v1/tools/toy.nothing/invoke',
      headers: { 'x-agent-id': 'refused' },
      body: { run_id: 'r', args: {} },
    });
    expect(response.status).toBe(404);
    const { page, done } = await board.open('/ui/calls');
    await page.locator('[data-example]', { hasText: 'state:refused' }).click();
    const row = page.locator('[data-refused]', { hasText: 'toy.nothing' }).first();
    await row.filter({ hasText: 'tool_not_found' }).waitFor();
    const seq = await row.getAttribute('data-refused');
    await row.getByRole('link').first().click();
    await page.waitForURL('**/ui/ledger?*');
    await page.locator(`[data-row="${seq}"]`, { hasText: 'call.refused' }).waitFor();
    await done();
  });

  it('drops rows that were requested under a former filter', async () => {
    const mine = await invoke('toy.echo', { n: 1 }, 'filtered');
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${mine}"]`).waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const isUnfiltered = (url: URL): boolean =>
      url.pathname === '/v1/tool_calls' && !url.searchParams.has('query');
    await page.route(isUnfiltered, async (route) => {
      await held;
      await route.continue();
    });
    const requested = page.waitForRequest((request) => isUnfiltered(new URL(request.url())));
    await invoke('toy.echo', { n: 2 }, 'unfiltered');
    await requested;
    await query(page).fill('agent:filtered');
    await query(page).press('Enter');
    await page.waitForURL('**/ui/calls?query=agent:filtered');
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

  it('has the calls that were made while another page was shown', async () => {
    const first = await invoke('toy.echo', { n: 1 }, 'returning');
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${first}"]`).getByRole('link').click();
    await page.waitForURL(`**/ui/calls/${first}*`);
    const second = await invoke('toy.echo', { n: 2 }, 'returning');
    await page.locator(`[data-related="${second}"] [data-state="COMPLETED"]`).waitFor();
    // The list would hold new rows under the pointer.
    await page.mouse.move(0, 0);
    await page.goBack();
    await page.locator(`[data-call="${first}"]`).waitFor();
    await expect
      .poll(() => page.locator(`[data-call="${second}"]`).count(), { timeout: 20_000 })
      .toBeGreaterThan(0);
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

describe('selected calls', () => {
  it('are cancelled after a confirmation that lists them, and replayed, with a result for each', async () => {
    // First, because those that do not end fill the slots of their run.
    const ended = await invoke('toy.echo', {}, 'bulk');
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.push(await invoke('toy.endless', { n }, 'bulk'));
    const { page, done } = await board.open('/ui/calls?query=agent:bulk');
    const box = (id: string): Locator => page.locator(`[data-call="${id}"] [data-select]`);
    await box(ended).click();
    await box(ids[2]!).click({ modifiers: ['Shift'] });
    await page.locator('[data-bulk]', { hasText: '4 calls selected' }).waitFor();
    await page.locator('[data-bulk-cancel]', { hasText: 'Cancel 3' }).click();
    await page.locator('[data-bulk-call]').nth(2).waitFor();
    expect(await page.locator(`[data-bulk-call="${ended}"]`).count()).toBe(0);
    await page.locator('[data-bulk-run]').click();
    await page.locator('[data-bulk-progress]', { hasText: '3 cancelled, 0 refused' }).waitFor();
    await page.locator('[data-bulk-close]').click();
    for (const id of ids) await page.locator(`[data-call="${id}"] [data-state="CANCELLED"]`).waitFor();
    await page.locator('[data-bulk-clear]').click();
    await page.locator(`[data-call="${ended}"] a`).focus();
    await page.keyboard.press('x');
    await page.locator('[data-bulk-replay]', { hasText: 'Replay 1' }).click();
    await page.locator('[data-bulk-run]').click();
    const made = page.locator(`[data-bulk-call="${ended}"] [data-bulk-state="done"] a`);
    await made.waitFor();
    // The state of the call that was replayed would read as that of the new one.
    expect(await page.locator(`[data-bulk-call="${ended}"] [data-state]`).count()).toBe(0);
    await page.locator('[data-bulk-progress]', { hasText: '1 replayed, 0 refused' }).waitFor();
    const replay = String(await made.textContent());
    expect(await made.getAttribute('href')).toContain(replay);
    await page.locator('[data-bulk-new]').click();
    await page.waitForURL((address) => address.searchParams.get('query')?.startsWith('run:') === true);
    await page.locator('[data-bulk-dialog]').waitFor({ state: 'detached' });
    await page.locator(`[data-call="${replay}"] a`).first().click();
    await page.waitForURL('**/ui/calls/tc_*');
    await page.locator('main a', { hasText: ended }).first().waitFor();
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
    expect(await page.locator('[data-failure]').count()).toBe(0);
    expect(await page.locator('[data-attempt-end]').allTextContents()).toEqual(['Completed']);
    await page.locator('[data-row] [data-state="COMPLETED"]').waitFor();
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

  it('shows calls of its run and later ones of its tool, its replays first, and asks for no more', async () => {
    const first = await invoke('toy.echo', { n: 0 }, 'relating');
    await Promise.all(Array.from({ length: 14 }, (_, n) => invoke('toy.echo', { n }, 'relating')));
    await invoke('toy.echo', { n: 15 }, 'another');
    await board.server.asOperator('POST', `/v1/tool_calls/${first}/replay`, {});
    const { page, done } = await board.open(`/ui/calls/${first}`);
    const related = page.locator('[data-related]');
    await related.first().filter({ hasText: 'replay of this' }).waitFor();
    await related.filter({ hasText: 'same run' }).first().waitFor();
    await related.filter({ hasText: 'same tool, later' }).waitFor();
    expect(await related.count()).toBeLessThanOrEqual(20);
    const limits = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => new URL(name))
        .filter(({ pathname }) => pathname === '/v1/tool_calls')
        .map(({ searchParams }) => Number(searchParams.get('limit'))),
    );
    expect(limits.length).toBeGreaterThan(0);
    expect(Math.max(...limits)).toBe(11);
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
    expect([ran, waited]).toEqual(['–', total]);
    expect(waited).not.toBe('0 ms');
    await row.getByRole('link').click();
    await page.locator('main dd', { hasText: 'without a decision' }).waitFor();
    await page.locator('[data-ran]', { hasText: '–' }).waitFor();
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
