import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo, remove } from './support/toys.ts';

let board: TestConsole;
const calls: string[] = [];
let waiting: string;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, remove] });
  const call = async (tool: string, args: unknown): Promise<string> => {
    const path = `/v1/tools/${tool}/invoke`;
    const response = await board.server.ask({ method: 'POST', path, body: { run_id: 'r', args } });
    return (response.json as { tool_call_id: string }).tool_call_id;
  };
  for (const n of [1, 2, 3]) calls.push(await call('toy.echo', { n }));
  waiting = await call('toy.remove', { path: '/x' });
});
afterAll(async () => {
  await board?.close();
});

const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

/** Goes on with the tab key until something of that kind has the keyboard; a hundred stops are no way to go. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let stops = 0; stops < 100; stops += 1) {
    await page.keyboard.press('Tab');
    if (await isFocused(page, selector)) return;
  }
  throw new Error(`the tab key does not lead to ${selector}`);
}

const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector);

const focusIsOn = (page: Page, selector: string): Promise<void> =>
  expect.poll(() => isFocused(page, selector)).toBe(true);

describe('by keyboard alone', () => {
  it('the first stop leads past the menu to the content', async () => {
    const { page, done } = await board.open('/ui/tools');
    await page.locator('[data-tool="toy.echo"]').waitFor();
    await press(page, 'Tab');
    await focusIsOn(page, '.skip');
    await press(page, 'Enter', 'Tab');
    await focusIsOn(page, 'main input');
    await page.locator('[data-tool="toy.echo"]').waitFor();
    await done();
  });

  it('a list of tools is one stop, walked with J and K; Escape closes what was opened', async () => {
    const { page, done } = await board.open('/ui/tools');
    await page.locator('[data-tool="toy.echo"]').waitFor();
    await tabTo(page, '.entry');
    await press(page, 'j', 'j', 'k');
    const second = await page.locator('.entry').nth(1).getAttribute('data-tool');
    await focusIsOn(page, `[data-tool="${second}"]`);
    await press(page, 'Enter');
    await page.locator('[data-tool-detail] pre').first().waitFor();
    await press(page, 'Tab');
    await focusIsOn(page, '[data-tool-detail] a');
    await press(page, 'Escape');
    await page.locator('[data-tool-detail]').waitFor({ state: 'detached' });
    await focusIsOn(page, `[data-tool="${second}"]`);
    await done();
  });

  it('a tool is loaded, filled in and run', async () => {
    const { page, done } = await board.open('/ui/tester?q=toy.remove');
    await page.locator('[data-tool="toy.remove"]').waitFor();
    await tabTo(page, '[data-tool="toy.remove"]');
    await press(page, 'Enter');
    await focusIsOn(page, '[data-field="/path"] input');
    await page.keyboard.type('/y');
    await press(page, 'Control+Enter');
    await page.locator('[data-result] [data-state="APPROVAL_REQUIRED"]').waitFor();
    await press(page, 'Escape');
    await page.locator('[data-result] [data-state="CANCELLED"]').waitFor();
    await done();
  });

  it('the list of calls is walked from wherever the keyboard is, and keeps to its row', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${waiting}"]`).waitFor();
    await tabTo(page, '[data-scroller]');
    await press(page, 'j', 'j');
    const at = await page.evaluate(() =>
      document.activeElement?.closest('[data-call]')?.getAttribute('data-call'),
    );
    await board.server.ask({
      method: 'POST',
      path: '/v1/tools/toy.echo/invoke',
      body: { run_id: 'r', args: { late: true } },
    });
    await expect.poll(() => page.locator('[data-call]').count()).toBeGreaterThan(calls.length + 1);
    await press(page, 'j', 'k', 'Enter');
    await page.waitForURL(`**/ui/calls/${at}*`);
    await focusIsOn(page, 'main');
    await done();
  });

  it('the tab key passes the other rows of the list of calls', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${waiting}"]`).waitFor();
    await press(page, 'j', 'j', 'j');
    await focusIsOn(page, '[data-call] a');
    await press(page, 'Shift+Tab');
    await focusIsOn(page, '[data-call] [data-select]');
    await press(page, 'Shift+Tab');
    await focusIsOn(page, '[data-scroller]');
    await press(page, 'Tab', 'Tab');
    await focusIsOn(page, '[data-call] a');
    await press(page, 'Tab');
    await focusIsOn(page, ':not([data-scroller] *)');
    await done();
  });

  it('Escape leads from a call back to its row in the list, which the keys go on from', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.locator(`[data-call="${calls[0]!}"]`).waitFor();
    await press(page, 'j', 'j', 'j');
    const at = await page.evaluate(
      () => document.activeElement?.closest('[data-call]')?.getAttribute('data-call') ?? '',
    );
    await press(page, 'Enter');
    await page.waitForURL(`**/ui/calls/${at}*`);
    await focusIsOn(page, 'main');
    await press(page, 'Escape');
    await focusIsOn(page, `[data-call="${at}"] a`);
    await press(page, 'x');
    await page.locator(`[data-call="${at}"].chosen`).waitFor();
    await done();
  });

  it('no editor traps the tab key; an opened input gets the focus and returns it', async () => {
    const { page, done } = await board.open(`/ui/approvals?call=${waiting}`);
    await page.locator('[data-approval-detail]').waitFor();
    await press(page, 'e');
    await focusIsOn(page, '[data-editor]');
    await page.keyboard.type('x');
    await page.getByRole('alert').filter({ hasText: 'not JSON' }).waitFor();
    await press(page, 'Control+a');
    await page.keyboard.type('{"path": "/z"}');
    await page.locator('.diff', { hasText: '/z' }).waitFor();
    await tabTo(page, '[data-approve-edited]');
    await press(page, 'Escape');
    await focusIsOn(page, '[data-approval-detail]');
    await done();
  });

  it('drawers and questions are left with Escape, and lead back to where they were opened', async () => {
    const { page, done } = await board.open('/ui/devices');
    await page.locator('[data-state="empty"]').waitFor();
    await tabTo(page, '[data-connect]');
    await press(page, 'Enter');
    await page.locator('[data-arrival]').waitFor();
    await press(page, 'Escape');
    await page.locator('[data-arrival]').waitFor({ state: 'detached' });
    await focusIsOn(page, '[data-connect]');

    const key = await board.server.mint({ kind: 'agent', name: 'walker' });
    await page.goto(`${board.url}/ui/agents`);
    await page.locator(`[data-key="${key.id}"]`).waitFor();
    await tabTo(page, `[data-key="${key.id}"] button`);
    await press(page, 'Enter');
    await page.getByRole('dialog').waitFor();
    await press(page, 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await focusIsOn(page, `[data-key="${key.id}"] button`);
    await board.server.asOperator('DELETE', `/v1/keys/${key.id}`);
    await done();
  });

  it('? shows the keys of every page and of this one, and keys do nothing behind it', async () => {
    const { page, done } = await board.open('/ui/approvals');
    await page.locator('[data-approval-detail]').waitFor();
    await press(page, '?');
    const overlay = page.getByRole('dialog', { name: 'Keys' });
    await overlay.getByText('show the keys').waitFor();
    await overlay.getByText('approve, edit, deny').waitFor();
    await press(page, 'd');
    await press(page, 'Escape');
    await overlay.waitFor({ state: 'detached' });
    expect(await page.locator('#deny-note').count()).toBe(0);
    await press(page, 'd');
    await page.locator('#deny-note').waitFor();
    await page.locator('#deny-note').focus();
    await page.keyboard.type('why?/');
    expect(await page.locator('#deny-note').inputValue()).toBe('why?/');
    expect(await overlay.count()).toBe(0);
    await done();
  });

  it('/ goes to the search field of the page, or to the palette where there is none; Escape leads back', async () => {
    const { page, done } = await board.open('/ui/tools');
    await page.locator('[data-tool="toy.echo"]').waitFor();
    await press(page, '/');
    await focusIsOn(page, '[data-page-search]');
    await page.keyboard.type('echo/');
    expect(await page.locator('input[data-page-search]').inputValue()).toBe('echo/');
    await press(page, 'Backspace', 'Escape');
    await focusIsOn(page, 'main');
    await page.locator('[data-tool="toy.echo"]').click();
    await page.locator('[data-tool-detail]').waitFor();
    await page.locator('main').focus();
    await press(page, 'Escape');
    await page.locator('[data-tool-detail]').waitFor({ state: 'detached' });

    await page.goto(`${board.url}/ui/settings`);
    await page.locator('main kbd').first().waitFor();
    await press(page, '/');
    await page.locator('[data-palette] input:focus').waitFor();
    await page.keyboard.type(calls[0]!);
    await press(page, 'Enter');
    await page.waitForURL(`**/ui/calls/${calls[0]}`);
    await page.locator('[data-replay]').waitFor();
    // An open popover takes the first Escape.
    await page.locator('[data-copy-as]').click();
    await page.locator('[data-code]').waitFor();
    await press(page, 'Escape');
    await page.locator('[data-code]').waitFor({ state: 'hidden' });
    expect(page.url()).toContain(calls[0]!);
    await press(page, 'Escape');
    await page.waitForURL('**/ui/settings');
    // Opened by its address, it has no page to return to but its list.
    await page.goto('about:blank');
    await page.goto(`${board.url}/ui/calls/${calls[0]}`);
    await page.locator('[data-replay]').waitFor();
    await press(page, 'Escape');
    await page.waitForURL('**/ui/calls');
    await done();
  });

  it('the palette finds failure codes, agents and texts, and leads to their calls', async () => {
    const { page, done } = await board.open('/ui/settings');
    await page.locator('main kbd').first().waitFor();
    for (const [typed, option, query] of [
      ['upstream_unrea', 'upstream_unreachable', 'code:upstream_unreachable'],
      ['local calls of', 'local', 'agent:local'],
      ['needle in arguments', 'needle in arguments', 'needle in arguments'],
    ] as const) {
      await press(page, 'Control+k');
      await page.locator('[data-palette] input:focus').waitFor();
      await page.keyboard.type(typed);
      await page.locator('[data-palette] [role=option]', { hasText: option }).first().waitFor();
      await press(page, 'Enter');
      await page.waitForURL((url) => url.pathname === '/ui/calls' && url.searchParams.get('query') === query);
    }
    await done();
  });

  it('Enter and Escape of an input method act on its text only', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.keyboard.press('Control+k');
    const input = page.locator('[data-palette] input');
    await input.waitFor();
    for (const key of ['Enter', 'Escape']) {
      await input.evaluate(async (field, pressed) => {
        const given = { key: pressed, isComposing: true, bubbles: true, cancelable: true };
        field.dispatchEvent(new KeyboardEvent('keydown', given));
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }, key);
      expect(await page.locator('[data-palette]').count()).toBe(1);
    }
    expect(new URL(page.url()).pathname).toBe('/ui/calls');
    await done();
  });

  it('a key with Shift that an editor has for itself does not open the palette', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.echo&view=json');
    await page.locator('[data-editor] .cm-content').focus();
    await page.keyboard.press('Control+Shift+k');
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    expect(await page.locator('[data-palette]').count()).toBe(0);
    await done();
  });

  it('a tool that the palette finds is ready to fill in', async () => {
    const { page, done } = await board.open('/ui/settings');
    await page.locator('main kbd').first().waitFor();
    await press(page, 'Control+k');
    await page.locator('[data-palette] input:focus').waitFor();
    await page.keyboard.type('toy.remove');
    // Until the tools are read, the only entry searches for calls with this text.
    const selected = page.locator('[data-palette] [role=option][aria-selected=true]');
    await selected.filter({ hasText: /^\s*toy\.remove\s*tool/i }).waitFor();
    await press(page, 'Enter');
    await focusIsOn(page, '[data-field="/path"] input');
    await done();
  });

  it('a point of a chart leads to its calls', async () => {
    const { page, done } = await board.open('/ui/metrics');
    const chart = '[data-chart="load"][data-points="true"]';
    await page.locator(chart).waitFor();
    await tabTo(page, `${chart} [role=slider]`);
    await press(page, 'End');
    await page.locator(`${chart} [role=slider][aria-valuetext*="open"]`).waitFor();
    await press(page, 'Enter');
    await page.waitForURL((url) => /since:\S+ until:/.test(url.searchParams.get('query') ?? ''));
    await done();
  });

  it('the table of metrics is walked with J and K from anywhere on the page, and Enter opens the calls of a row', async () => {
    const { page, done } = await board.open('/ui/metrics?by=tool&sort=name&order=ascending');
    const link = (tool: string): string => `[data-series="${tool}"] [data-series-link]`;
    await page.locator(link('toy.remove')).waitFor();
    await page.locator('[data-by]').getByText('Tool', { exact: true }).click();
    await press(page, 'j');
    await focusIsOn(page, link('toy.echo'));
    await press(page, 'j', 'j');
    await focusIsOn(page, link('toy.remove'));
    await press(page, 'k');
    await focusIsOn(page, link('toy.echo'));
    await press(page, 'ArrowDown');
    await focusIsOn(page, link('toy.remove'));
    await press(page, '?');
    const overlay = page.getByRole('dialog', { name: 'Keys' });
    await overlay.getByText('move in the list').waitFor();
    await press(page, 'k', 'Escape');
    await focusIsOn(page, link('toy.remove'));
    await press(page, 'Enter');
    await page.waitForURL((url) =>
      (url.searchParams.get('query') ?? '').startsWith('tool:toy.remove since:'),
    );
    await done();
  });

  it('the menu of a narrow page takes the keyboard and gives it back', async () => {
    const { page, done } = await board.open('/ui/settings', { viewport: { width: 390, height: 844 } });
    await page.locator('main kbd').first().waitFor();
    await tabTo(page, '[data-menu]');
    await press(page, 'Enter');
    await focusIsOn(page, 'nav a');
    await press(page, 'Escape');
    await focusIsOn(page, '[data-menu]');
    await page.locator('[data-menu][aria-expanded="false"]').waitFor();
    await done();
  });
});
