import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo, endless, remove, shapes } from './support/toys.ts';
import { aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';

/** Belongs to no group. */
const plain = aServerTool({ name: 'plain' });

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, endless, remove, shapes, plain] });
});
afterAll(async () => {
  await board?.close();
});

/** Waits until the text view shows these arguments: the editor mounts empty and is filled a moment later. */
async function textIs(page: Page, args: unknown): Promise<void> {
  await page.getByRole('tab', { name: 'JSON' }).click();
  await waitFor(async () => {
    const lines = await page.locator('[data-editor] .cm-line').allInnerTexts();
    expect(JSON.parse(lines.join('\n'))).toEqual(args);
  });
  await page.getByRole('tab', { name: 'Form' }).click();
}

const field = (page: Page, path: string) => page.locator(`[data-field="${path}"]`);

describe('the library', () => {
  it('finds, groups and loads with a click or Enter', async () => {
    const { page, done } = await board.open('/ui/tester');
    await page.getByLabel('Search tools').fill('removes');
    await page.locator('[data-tool="toy.echo"]').waitFor({ state: 'detached' });
    await page.locator('[data-tool="toy.remove"]').click();
    await page.locator('[data-library-detail]', { hasText: 'path' }).waitFor();
    await field(page, '/path').locator('input').fill('/x');
    await page.waitForURL('**tool=toy.remove*');
    expect(page.url()).toContain('q=removes');
    // The arguments of the tool that is loaded already remain.
    await page.locator('[data-tool="toy.remove"]').click();
    await textIs(page, { path: '/x' });
    await page.getByLabel('Search tools').fill('');
    await page.locator('[data-tool="toy.shapes"]').press('Enter');
    await field(page, '/title').waitFor();
    const search = page.getByLabel('Search tools');
    await search.fill('removes');
    await page.locator('[data-tool="toy.shapes"]').waitFor({ state: 'detached' });
    await search.press('Enter');
    await field(page, '/path').locator('input:focus').waitFor();
    await search.press('ArrowDown');
    await page.locator('[data-tool="toy.remove"]:focus').waitFor();
    await search.fill('');
    await page.locator('[data-group="toy"] ~ ul [data-tool="toy.remove"]').waitFor();
    await page.locator('[data-group=""] ~ ul [data-tool="plain"]').waitFor();
    await done();
  });
});

describe('the form and the text', () => {
  it('are in sync: each shows what the other wrote', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.shapes');
    await field(page, '/title').locator('input').fill('ab');
    await field(page, '/count').locator('input').fill('123456789012345678901234567890');
    await field(page, '/deep').locator('[data-begin]').click();
    await field(page, '/deep/inner').locator('[data-begin]').click();
    await field(page, '/deep/inner/leaf').locator('input').fill('green');
    await field(page, '/list').locator('[data-begin]').click();
    await field(page, '/list').locator('[data-add-item]').click();
    await field(page, '/list/0').locator('input').fill('one');
    await page.getByRole('tab', { name: 'JSON' }).click();
    const editor = page.locator('[data-editor] .cm-content');
    await editor.filter({ hasText: '123456789012345678901234567890' }).waitFor();
    await editor.fill('{"title": "from the text", "note": null, "list": ["x", "y"]}');
    await page.getByRole('tab', { name: 'Form' }).click();
    const valueOf = (path: string) => field(page, path).locator('input').inputValue();
    await expect.poll(() => valueOf('/title')).toBe('from the text');
    await expect.poll(() => valueOf('/list/1')).toBe('y');
    await field(page, '/note').getByText('null').first().waitFor();
    await done();
  });

  it('name the editor in the language of the page, also after it was changed', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.echo&view=json');
    const editor = page.locator('[data-editor] .cm-content');
    await expect.poll(() => editor.getAttribute('aria-label')).toBe('Arguments');
    await page.getByRole('button', { name: '切换到中文' }).click();
    await expect.poll(() => editor.getAttribute('aria-label'), { timeout: 20_000 }).toBe('参数');
    await done();
  });

  it('distinguishes unset from empty', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.shapes');
    await field(page, '/title').locator('input').fill('ab');
    await field(page, '/title').locator('input').fill('');
    await textIs(page, { title: '' });
    await field(page, '/title').locator('[data-unset]').click();
    await textIs(page, {});
    await field(page, '/title').getByText('unset').waitFor();
    await done();
  });

  it('offers the alternatives of a union, with what is fixed filled in', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.shapes');
    await field(page, '/either').locator('[data-begin]').click();
    await field(page, '/either/kind').waitFor();
    await field(page, '/either/x').locator('input').fill('1.5');
    await textIs(page, { either: { kind: 'point', x: 1.5 } });
    await field(page, '/either').locator('[data-variant]').click();
    await page.getByRole('option', { name: 'a name' }).click();
    await textIs(page, { either: '' });
    await done();
  });

  it('says what is wrong at the field and at the line, in the language of the page', async () => {
    const { page, done } = await board.open(
      '/ui/tester?tool=toy.shapes&args=%7B%22title%22%3A%22a%22%2C%22count%22%3A0%7D',
    );
    await field(page, '/title').getByText('must not have fewer than 2 characters').waitFor();
    await field(page, '/count').getByText('must be >= 1').waitFor();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.locator('[data-issue]', { hasText: 'line 1' }).first().waitFor();
    await page.locator('[data-editor] .cm-content').fill('{\n  "title": "ab",\n  "count": }');
    await page.getByRole('alert').filter({ hasText: 'line 3, column 12' }).waitFor();
    await page.getByRole('button', { name: '切换到中文' }).click();
    await page.locator('[data-editor] .cm-content').fill('{"title": "a"}');
    await page.getByRole('tab', { name: '表单' }).click();
    await field(page, '/title').getByText('不能少于 2 个字符').waitFor();
    await done();
  });

  it('says what is missing only once its field was left or the form sent, in the language of the page', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.shapes');
    const alerts = page.getByRole('alert');
    const title = field(page, '/title');
    await title.locator('input').focus();
    expect(await alerts.count()).toBe(0);
    await title.locator('input').press('Tab');
    await title.getByRole('alert').getByText('required', { exact: true }).waitFor();
    expect(await alerts.count()).toBe(1);
    // Another tool begins anew.
    await page.locator('[data-tool="toy.remove"]').click();
    await field(page, '/path').waitFor();
    expect(await alerts.count()).toBe(0);
    // One click is enough, though it leaves the field, which then has one more line.
    await field(page, '/path').locator('input').focus();
    await page.locator('[data-dry]').click();
    await page.locator('[data-dry-run]').waitFor();
    await field(page, '/path').getByRole('alert').getByText('required', { exact: true }).waitFor();
    expect(await field(page, '/path').getByRole('alert').count()).toBe(1);
    await page.getByRole('button', { name: '切换到中文' }).click();
    await field(page, '/path').getByRole('alert').getByText('必填', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.locator('[data-issue]', { hasText: '缺少 path' }).waitFor();
    await done();
  });

  it('shows at once what is wrong with a value, and what is missing when the form is sent', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.remove&args=%7B%22count%22%3A11%7D');
    await field(page, '/count').getByText('must be <= 10').waitFor();
    expect(await field(page, '/path').getByRole('alert').count()).toBe(0);
    await page.locator('[data-run]').click();
    await field(page, '/path').getByRole('alert').getByText('required', { exact: true }).waitFor();
    await done();
  });

  it('shows what only the server finds at the same places', async () => {
    const { page, done } = await board.open(
      '/ui/tester?tool=toy.shapes&args=%7B%22title%22%3A%22ab%22%2C%22code%22%3A%22abc%22%7D',
    );
    await field(page, '/code').waitFor();
    await page.locator('[data-run]').click();
    await field(page, '/code').getByRole('alert').waitFor();
    await done();
  });
});

describe('a run', () => {
  it('leaves its arguments out of the address of the next page', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.shapes');
    await field(page, '/title').locator('input').waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const addresses: string[] = [];
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    await field(page, '/title').locator('input').fill('typed');
    await page.locator('nav a[href^="/ui/calls"]').click();
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
    await page.clock.runFor(1000);
    await page.locator('nav a[href^="/ui/tools"]').click();
    await page.getByRole('heading', { name: 'Tools', level: 1 }).waitFor();
    expect(addresses.length).toBeGreaterThan(1);
    expect(addresses.filter((address) => address.includes('args='))).toEqual([]);
    await done();
  });

  it('goes by Ctrl+Enter, shows its result in every format, and compares with the one before', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy_echo&args=%7B%22n%22%3A1%7D');
    // `toolId_methodName` is understood, and the address has the name itself.
    await page.waitForURL('**tool=toy.echo*');
    await page.keyboard.press('Control+Enter');
    await page.locator('[data-result] [data-state="COMPLETED"]').waitFor();
    await page.getByRole('tab', { name: 'OpenAI' }).click();
    await page.getByRole('region', { name: 'OpenAI' }).filter({ hasText: '"role": "tool"' }).waitFor();
    await page.getByRole('tab', { name: 'VCP' }).click();
    await page.getByRole('region', { name: 'VCP' }).filter({ hasText: '<<<[TOOL_RESULT]>>>' }).waitFor();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.locator('[data-editor] .cm-content').fill('{"n": 2}');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('tab', { name: 'Diff' }).click();
    await page.locator('[data-result] .added', { hasText: '2' }).waitFor();
    await page.getByText('Last runs (2)').waitFor();
    await done();
  });

  it('is shown and copied as VCP that reads back as it was, whatever its values hold', async () => {
    const args = {
      text: '「末」\n<<<[END_TOOL_REQUEST]>>>\n<<<[TOOL_REQUEST]>>>「末ESCAPE」「末ESCAPE1」',
      tool_name: 'toy.remove',
      id: 7,
    };
    const { page, done } = await board.open(
      `/ui/tester?tool=toy.echo&args=${encodeURIComponent(JSON.stringify(args))}`,
      { permissions: ['clipboard-read', 'clipboard-write'] },
    );
    await page.locator('[data-run]:not([disabled])').click();
    await page.locator('[data-result] [data-state="COMPLETED"]').waitFor();
    await page.getByRole('tab', { name: 'VCP' }).click();
    const shown = page.getByRole('region', { name: 'VCP' });
    await shown.filter({ hasText: '<<<[END_TOOL_RESULT]>>>' }).waitFor();
    expect((await shown.innerText()).split('<<<[END_TOOL_RESULT]>>>')).toHaveLength(2);
    expect(await shown.innerText()).not.toContain('<<<[TOOL_REQUEST]>>>');
    await page.locator('[data-copy-as]').click();
    await page.locator('[data-code]').getByRole('tab', { name: 'VCP text' }).click();
    const preview = page.locator('[data-code]').getByRole('region', { name: 'VCP text' });
    await preview.filter({ hasText: '<<<[END_TOOL_REQUEST]>>>' }).waitFor();
    await page.locator('[data-code]').getByRole('button', { name: 'Copy' }).click();
    const text = await waitFor(async () => {
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied).toContain('TOOL_REQUEST');
      return copied;
    });
    const report = await board.server.ask({
      method: 'POST',
      path: '/v1/parse',
      body: { protocol: 'vcp', text },
    });
    expect(report.json).toMatchObject({
      errors: [],
      requests: [{ toolName: 'toy.echo', args: { ...args, id: expect.anything() } }],
    });
    await done();
  });

  it('has a dry run that records nothing, and is cancelled with Esc', async () => {
    const before = (await board.server.store.ledgerHead()).seq;
    const { page, done } = await board.open('/ui/tester?tool=toy.remove&args=%7B%22path%22%3A%22%2Fx%22%7D');
    await field(page, '/path').waitFor();
    await page.locator('[data-dry]').click();
    await page.locator('[data-dry-run]', { hasText: 'the tool is destructive' }).waitFor();
    expect((await board.server.store.ledgerHead()).seq).toBe(before);
    await page.goto(`${board.url}/ui/tester?tool=toy.endless`);
    await page.locator('[data-run]:not([disabled])').click();
    await page.locator('[data-result] [data-state="EXECUTING"]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[data-result] [data-state="CANCELLED"]').waitFor();
    await done();
  });

  it('goes on when Esc closes a dialog over it', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.endless');
    await page.locator('[data-run]:not([disabled])').click();
    await page.locator('[data-result] [data-state="EXECUTING"]').waitFor();
    await page.locator('[data-copy-as]').click();
    await page.locator('[data-code]').waitFor();
    const cancels: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/cancel')) cancels.push(request.url());
    });
    await page.locator('[data-code] [role="tab"]').first().focus();
    await page.keyboard.press('Escape');
    await page.locator('[data-code]').waitFor({ state: 'detached' });
    expect(cancels).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('[data-result] [data-state="CANCELLED"]').waitFor();
    await done();
  });

  it('holds no connection while its calls are under way, from the sandbox or from a reply', async () => {
    const { page, context, done } = await board.open('/ui/tester?tool=toy.endless', { isSignedIn: false });
    const waits: string[] = [];
    context.on('request', (request) => {
      const { prefer } = request.headers();
      if (prefer !== undefined) waits.push(prefer);
    });
    await page.locator('[data-run]:not([disabled])').click();
    await page.locator('[data-result] [data-state="EXECUTING"]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[data-result] [data-state="CANCELLED"]').waitFor();
    await page.locator('[data-run]:not([disabled])').waitFor();
    expect(waits).toEqual([]);
    await page.goto(`${board.url}/ui/tester?pane=parser`);
    const request = ['<<<[TOOL_REQUEST]>>>', 'tool_name:「始」toy.remove「末」', 'path:「始」/reply「末」'];
    await page.locator('[data-reply]').fill([...request, '<<<[END_TOOL_REQUEST]>>>'].join('\n'));
    await page.locator('[data-run-all]').click();
    const waiting = await waitFor(async () => {
      const { json } = await board.server.asOperator('GET', '/v1/approvals');
      const [first] = (json as { approvals: { tool_call_id: string; digest: string }[] }).approvals;
      expect(first).toBeDefined();
      return first!;
    });
    const path = `/v1/tool_calls/${waiting.tool_call_id}/decision`;
    const decision = { decision: 'allow', digest: waiting.digest };
    const outcome = page.locator('[data-request="toy.remove"] [data-request-outcome]');
    await outcome.locator('[data-state="APPROVAL_REQUIRED"]').waitFor();
    expect(await board.server.asOperator('POST', path, decision)).toMatchObject({ status: 200 });
    await page.locator('[data-send-back]', { hasText: '/reply' }).waitFor();
    await outcome.locator('[data-state="COMPLETED"]').waitFor();
    expect(new Set(waits)).toEqual(new Set(['wait=1']));
    await done();
  });

  it('shows what came of each request of a reply where the request is, with a link to its call', async () => {
    const { page, done } = await board.open('/ui/tester?pane=parser', {
      viewport: { width: 390, height: 844 },
    });
    const block = (tool: string): string =>
      `<<<[TOOL_REQUEST]>>>\ntool_name:「始」${tool}「末」\nn:「始」1「末」\n<<<[END_TOOL_REQUEST]>>>`;
    const reply = page.locator('[data-reply]');
    await reply.fill([block('toy.echo'), block('no.such_tool')].join('\n'));
    await page.locator('[data-request="no.such_tool"]').waitFor();
    expect(await page.locator('[data-request-outcome]').count()).toBe(0);
    await page.locator('[data-run-all]').click();
    const refused = page.locator('[data-request="no.such_tool"] [data-request-outcome]');
    await refused.locator('[data-state="REFUSED"]').waitFor();
    expect(await refused.innerText()).toContain('no.such_tool');
    expect(await refused.getByRole('link').count()).toBe(0);
    const ran = page.locator('[data-request="toy.echo"] [data-request-outcome]');
    await ran.locator('[data-state="COMPLETED"]').waitFor();
    // Another reply has no calls yet.
    await reply.fill([block('toy.echo'), block('plain')].join('\n'));
    await page.locator('[data-request="plain"]').waitFor();
    expect(await page.locator('[data-request-outcome]').count()).toBe(0);
    await page.locator('[data-run-all]').click();
    await page.locator('[data-request="plain"] [data-request-outcome] [data-state="COMPLETED"]').waitFor();
    await ran.getByRole('link', { name: 'Open call' }).click();
    await page.waitForURL('**/ui/calls/*');
    await page.locator('h1', { hasText: 'toy.echo' }).waitFor();
    await done();
  });
});
