import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDataFolder, aPlatform } from '../guard/support/a-platform.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo, remove } from './support/toys.ts';

let board: TestConsole;
let call: string;
beforeAll(async () => {
  const policy = { agents: { guest: { autoDenyTools: ['toy.remove'], mode: 'ask' } } };
  board = await aConsole({ tools: [echo, remove], config: { policy } });
  const made = await board.server.ask({
    method: 'POST',
    path: '/v1/tools/toy.echo/invoke',
    headers: { 'x-trace-id': 'trace-1' },
    body: { run_id: 'r', args: { n: 1 } },
  });
  call = (made.json as { tool_call_id: string }).tool_call_id;
});
afterAll(async () => {
  await board?.close();
});

describe('tools', () => {
  it('show contract, policy and health', async () => {
    const { page, done } = await board.open('/ui/tools');
    await page.locator('[data-tool="toy.echo"]').click();
    await page.locator('[data-tool-detail]', { hasText: 'Answers with what it was given' }).waitFor();
    await page.getByRole('tab', { name: 'Health' }).click();
    await page.locator('[data-tool-detail]', { hasText: '100.0 %' }).waitFor();
    const times = page.locator('[data-times]');
    await expect.poll(() => times.locator('th[scope=col]').allInnerTexts()).toEqual(['Waited', 'Ran']);
    await expect.poll(() => times.locator('tbody tr').first().locator('td').count()).toBe(2);
    await page.getByRole('tab', { name: 'Policy' }).click();
    await page.locator('[data-explanation]', { hasText: 'not marked as risky' }).waitFor();
    await done();
  });
});

describe('agents and policy', () => {
  it('lists rules in order with their origin, simulates, and puts another policy in force', async () => {
    const { page, done } = await board.open('/ui/agents?view=policy');
    await page.getByRole('row').filter({ hasText: 'agents.guest.autoDenyTools[0]' }).waitFor();
    await page.locator('[data-edit-policy]').click();
    const editor = page.locator('[data-editor] .cm-content');
    await editor.fill('{"default": {"mode": "sometimes"}}');
    await page.locator('[data-save-policy]').click();
    await page.getByRole('alert').first().waitFor();
    await editor.fill('{"agents": {"guest": {"mode": "deny"}}}');
    await page.locator('[data-save-policy]').click();
    await page.getByRole('row').filter({ hasText: 'agents.guest.mode' }).waitFor();
    await page.goto(`${board.url}/ui/agents?view=simulator&tool=toy.echo&agent=guest`);
    await page.locator('[data-explanation]', { hasText: 'mode is deny' }).waitFor();
    await done();
  });

  it('simulates without the code editor, which replaces the field of arguments when it gets the focus', async () => {
    const { page, done } = await board.open('/ui/settings');
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
    await page.goto(`${board.url}/ui/agents?view=simulator&tool=toy.echo`);
    await page.locator('[data-explanation]').waitFor();
    const field = page.getByRole('textbox', { name: 'Arguments' });
    await expect.poll(() => field.inputValue()).toBe('{}');
    expect(scripts.filter((path) => path.includes('code-editor'))).toEqual([]);
    await page.getByRole('textbox', { name: 'Agent' }).focus();
    await page.keyboard.press('Tab');
    await page.locator('[data-editor] .cm-content').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('{"text": 1');
    await page.getByRole('alert').waitFor();
    await page.keyboard.type('}');
    await expect.poll(() => new URL(page.url()).searchParams.get('args')).toBe('{"text": 1}');
    await page.locator('[data-explanation]').waitFor();
    await done();
  });

  it('warns of a typo while one edits and once it is in force, in both languages, and says what matches', async () => {
    const { page, done } = await board.open('/ui/agents?view=policy');
    await page.locator('[data-edit-policy]').click();
    const typo = { default: { requireApprovalTools: ['toy.ecoh', 'toy.*'], autoDenyTools: ['toy.*'] } };
    await page.locator('[data-editor] .cm-content').fill(JSON.stringify(typo));
    const warnings = page.locator('[data-policy-warnings]');
    await warnings
      .getByText('"toy.ecoh" matches no tool that is registered now; did you mean toy.echo?')
      .waitFor();
    await page.locator('[data-save-policy]').click();
    const row = page.getByRole('row').filter({ hasText: 'default.requireApprovalTools[1]' });
    await row.getByText('matches 2 tools: toy.echo, toy.remove').waitFor();
    await expect.poll(() => warnings.locator('[data-warning="rule_shadowed"]').count()).toBe(2);
    await page.getByRole('button', { name: '切换到中文' }).click();
    await warnings.getByText('“toy.ecoh”不匹配任何已注册的工具；是否想写 toy.echo？').waitFor();
    await warnings.getByText('“toy.*”从不起作用：default.autoDenyTools[0]').waitFor();
    await board.server.asOperator('PUT', '/v1/policy', { document: {} });
    await done();
  });

  it('says that a policy cannot be read, and takes another', async () => {
    const folder = aDataFolder();
    const broken = await aPlatform({ folder });
    await broken.store.putDocument('policy', 'default 000000000007', '{', []);
    await broken.close();
    const other = await aConsole({ folder });
    const { page, done } = await other.open('/ui/agents?view=policy');
    await page.getByRole('alert').filter({ hasText: 'unreadable' }).waitFor();
    await page.locator('[data-edit-policy]').click();
    await page.locator('[data-save-policy]').click();
    await page.getByText('Version 8').waitFor();
    await done();
    await other.close();
    folder.remove();
  });

  it('shows a key once', async () => {
    const { page, done } = await board.open('/ui/agents');
    const none = page.locator('[data-state="empty"]', { hasText: 'npx patchboard keys create' });
    await none.filter({ hasText: 'local mode accepts every program' }).waitFor();
    await page.locator('[data-key-name]').fill('researcher');
    await page.locator('[data-create-key]').click();
    await page.locator('[data-create-first]').click();
    const secret = (await page.locator('[data-minted] code').innerText()).trim();
    expect(secret).toMatch(/^pb_/);
    await page.locator('[data-key]', { hasText: 'researcher' }).waitFor();
    await page.reload();
    await page.locator('[data-key]', { hasText: 'researcher' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
    );
    expect(kept).not.toContain(secret);
    await page.locator('[data-key]').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.locator('[data-key]').waitFor({ state: 'detached' });
    // Local mode stays over.
    await none.filter({ hasText: 'every request needs a credential' }).waitFor();
    await done();
  });
});

describe('the ledger', () => {
  it('is verified, exported whole, and shows a trace', async () => {
    const { page, done } = await board.open('/ui/ledger');
    await page.locator('[data-row]').first().waitFor();
    await page.locator('[data-verify]').click();
    await page.locator('[data-verdict]', { hasText: 'rows verified' }).waitFor();
    const download = page.waitForEvent('download');
    await page.locator('[data-export]').click();
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toHaveProperty('head');
    expect(lines.some((line) => line.includes(call))).toBe(true);
    await page.goto(`${board.url}/ui/ledger?trace=trace-1`);
    await page.locator('[data-trace]', { hasText: 'toy.echo' }).waitFor();
    await done();
  });
});

describe('metrics', () => {
  it('count calls at the server, by a group, and lead from each point and series to its calls', async () => {
    const { page, done } = await board.open('/ui/metrics');
    await page.locator('[data-chart="rate"] canvas').waitFor();
    await page.locator('[data-covered]', { hasText: 'buckets of 1 min' }).waitFor();
    expect(
      await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name)),
    ).not.toEqual(expect.arrayContaining([expect.stringContaining('/v1/tool_calls')]));
    await page.locator('[data-point]').first().click();
    await page.waitForURL('**/ui/calls?query=*');
    await page.locator(`[data-call="${call}"]`).waitFor();
    await page.goBack();
    await page.locator('[data-by]').getByText('Tool', { exact: true }).click();
    const row = page.locator('[data-series="toy.echo"]');
    await row.filter({ hasText: '0.0 %' }).waitFor();
    await row.getByRole('link', { name: 'toy.echo' }).click();
    await page.waitForURL((url) => (url.searchParams.get('query') ?? '').startsWith('tool:toy.echo since:'));
    await page.locator(`[data-call="${call}"]`).waitFor();
    await done();
  });

  it('have a table of series that is sorted by a column in either direction', async () => {
    const body = { run_id: 'r', args: {} };
    await board.server.asOperator('POST', '/v1/tools/no.such_tool/invoke', body);
    const { page, done } = await board.open('/ui/metrics?by=tool');
    await page.locator('[data-series="no.such_tool"]').waitFor();
    const names = (): Promise<(string | null)[]> =>
      page.locator('[data-series]').evaluateAll((rows) => rows.map((one) => one.getAttribute('data-series')));
    const sortBy = (column: string, order: string): Promise<void> =>
      page
        .locator(`[data-series-table] [data-sort="${column}"]`)
        .click()
        .then(() => page.locator(`th[aria-sort="${order}"] [data-sort="${column}"]`).waitFor());
    await sortBy('name', 'ascending');
    expect(await names()).toEqual(['no.such_tool', 'toy.echo']);
    await sortBy('name', 'descending');
    expect(await names()).toEqual(['toy.echo', 'no.such_tool']);
    await sortBy('share', 'descending');
    expect(await names()).toEqual(['no.such_tool', 'toy.echo']);
    await page.waitForURL('**sort=share*');
    await page.reload();
    await page.locator('th[aria-sort="descending"] [data-sort="share"]').waitFor();
    expect(await names()).toEqual(['no.such_tool', 'toy.echo']);
    await done();
  });

  it('are of the tools, agents and the time that the address names', async () => {
    const { page, done } = await board.open('/ui/metrics?query=tool:none.*&since=24h&by=agent');
    await page.locator('[data-state="empty"]', { hasText: 'No call of these tools' }).waitFor();
    await page.getByRole('combobox', { name: 'Tools and agents' }).fill('state:failed');
    await page.keyboard.press('Enter');
    await page.locator('[data-problem]', { hasText: 'tool and agent' }).waitFor();
    await page.goto(`${board.url}/ui/metrics?since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z`);
    await page.locator('[data-custom-range]').waitFor();
    await page.locator('[data-state="empty"]').waitFor();
    // A span that is none of the choices, and a start without an end, are no mistakes.
    for (const since of ['2h', '2026-01-01T00:00:00Z']) {
      await page.goto(`${board.url}/ui/metrics?since=${since}`);
      await page.locator('[data-covered]').waitFor();
      expect(await page.getByText('The start must be before the end').count()).toBe(0);
    }
    await done();
  });

  it('by failure code have the share of all calls, and charts of fewer lines after a search', async () => {
    const body = { run_id: 'r', args: {} };
    await board.server.asOperator('POST', '/v1/tools/no.such_tool/invoke', body);
    const { page, done } = await board.open('/ui/metrics?by=code');
    await page.locator('[data-series-table] [data-sort="share"]', { hasText: 'Share of calls' }).waitFor();
    const code = page.locator('[data-series="tool_not_found"]');
    await code.waitFor();
    const shares = await page.locator('[data-series] td:nth-child(5)').allInnerTexts();
    expect(shares.reduce((sum, share) => sum + Number.parseFloat(share), 0)).toBeCloseTo(100, 0);
    await page.locator('[data-chart="share"] canvas').waitFor();
    await page.getByRole('combobox', { name: 'Tools and agents' }).fill('tool:toy.echo');
    await page.keyboard.press('Enter');
    await code.waitFor({ state: 'detached' });
    await page.locator('[data-chart="share"] .u-series', { hasText: 'tool_not_found' }).waitFor({
      state: 'detached',
    });
    await done();
  });

  it('have charts in the language of the page, also after it was changed', async () => {
    const { page, done } = await board.open('/ui/metrics');
    const time = page.locator('[data-chart="ran"] .u-series').first();
    await expect.poll(() => time.textContent()).toContain('Time');
    await page.getByRole('button', { name: '切换到中文' }).click();
    await expect.poll(() => time.textContent(), { timeout: 20_000 }).toContain('时间');
    await done();
  });

  it('lead from the failed count of a series to the calls that failed', async () => {
    const path = '/v1/tools/toy.remove/invoke';
    const wrong = await board.server.asOperator('POST', path, { run_id: 'r', args: { path: 1 } });
    expect(wrong.status).toBeGreaterThanOrEqual(400);
    const made = await board.server.asOperator('POST', path, { run_id: 'r', args: { path: '/failed' } });
    const { tool_call_id: failed } = made.json as { tool_call_id: string };
    const cancelled = await board.server.asOperator('POST', `/v1/tool_calls/${failed}/cancel`);
    expect(cancelled.status).toBeLessThan(300);
    const { page, done } = await board.open('/ui/metrics?by=tool&since=24h&query=tool:toy.*', {
      viewport: { width: 390, height: 844 },
    });
    const link = page.locator('[data-series="toy.remove"] [data-series-failed]', { hasText: '2' });
    await link.waitFor();
    expect(await link.getAttribute('aria-label')).toBe(
      '2 failed: toy.remove (opens the calls, without the refused requests)',
    );
    expect(await page.locator('[data-series="toy.echo"] [data-series-failed]').count()).toBe(0);
    await link.click();
    await page.waitForURL((url) =>
      (url.searchParams.get('query') ?? '').startsWith('tool:toy.remove state:cancelled since:'),
    );
    await page.locator(`[data-call="${failed}"]`).waitFor();
    await page.goto(`${board.url}/ui/metrics?by=outcome`);
    await page.locator('[data-series="REFUSED"] [data-series-failed]').click();
    await page.waitForURL((url) => (url.searchParams.get('query') ?? '').startsWith('state:refused since:'));
    await done();
  });

  it('have charts to click on', async () => {
    const { page, done } = await board.open('/ui/metrics');
    for (const name of ['rate', 'share', 'ran', 'waited', 'load', 'devices']) {
      const chart = page.locator(`[data-chart="${name}"][data-points="true"]`);
      // There is nothing under the pointer before it moves.
      await chart.locator('.u-over').hover();
      await chart.locator('.u-over').click();
      await page.waitForURL((url) => /since:\S+ until:/.test(url.searchParams.get('query') ?? ''));
      await page.goBack();
    }
    await done();
  });
});
