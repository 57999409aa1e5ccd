import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { aConsole, choose, type TestConsole } from './support/a-console.ts';
import { remove } from './support/toys.ts';

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [remove] });
});
afterAll(async () => {
  await board?.close();
});

async function ask(args: unknown, agent = 'planner'): Promise<string> {
  const headers = { 'x-agent-id': agent };
  const body = { run_id: `run-of-${agent}`, args };
  const response = await board.server.ask({
    method: 'POST',
    path: '/v1/tools/toy.remove/invoke',
    headers,
    body,
  });
  return (response.json as { tool_call_id: string }).tool_call_id;
}

interface Record_ {
  readonly state: string;
  readonly args: unknown;
  readonly result: unknown;
  readonly error: { readonly message: string; readonly note?: string } | null;
  readonly approval: {
    readonly digest: string;
    readonly decided_by: string;
    readonly note?: string;
    readonly original_args?: unknown;
  };
}

async function ended(id: string): Promise<Record_> {
  const headers = { prefer: 'wait=20' };
  return (await board.server.ask({ method: 'GET', path: `/v1/tool_calls/${id}`, headers })).json as Record_;
}

async function digestOf(id: string): Promise<string> {
  return ((await board.server.asOperator('GET', `/v1/tool_calls/${id}`)).json as Record_).approval.digest;
}

async function shown(page: Page, id: string): Promise<void> {
  await page.locator(`[data-approval="${id}"][aria-current="true"]`).waitFor();
}

describe('the inbox', () => {
  it('appears live, and is worked off by keyboard alone: J, K, A, D with a reason', async () => {
    const { page, done } = await board.open('/ui/approvals');
    await page.locator('[data-state="empty"]').first().waitFor();
    const first = await ask({ path: '/first' });
    await page.locator('[data-badge="approvals"]').waitFor();
    await shown(page, first);
    const second = await ask({ path: '/second' });
    await page.locator(`[data-approval="${second}"]`).waitFor();
    // It did not take the place of the one that is read.
    await shown(page, first);
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await shown(page, second);
    await page.locator('[data-approval-detail]', { hasText: '/second' }).waitFor();
    await page.keyboard.press('a');
    expect(await ended(second)).toMatchObject({
      state: 'COMPLETED',
      result: { removed: { path: '/second' } },
    });
    await shown(page, first);
    await page.keyboard.press('d');
    await page.locator('#deny-note:focus').waitFor();
    await page.keyboard.type('not on a Friday');
    await page.keyboard.press('Enter');
    const denied = await ended(first);
    expect(denied.state).toBe('DENIED');
    expect(JSON.stringify(denied.error)).toContain('not on a Friday');
    await page.getByText('No call waits for approval.').waitFor();
    await done();
  });

  it('keeps the chosen call in view while J moves through many', async () => {
    for (let n = 0; n < 20; n += 1) await ask({ path: `/many/${n}` }, 'many');
    const { page, done } = await board.open('/ui/approvals');
    await page.locator('[data-approval]').nth(19).waitFor();
    for (let n = 0; n < 19; n += 1) await page.keyboard.press('j');
    const chosen = page.locator('[data-approval][aria-current="true"]');
    await page.locator('[data-approval-detail]', { hasText: '/many/0' }).waitFor();
    const list = (await page.locator('.inbox ul').boundingBox())!;
    const entry = (await chosen.boundingBox())!;
    expect(entry.y).toBeGreaterThanOrEqual(list.y - 1);
    expect(entry.y + entry.height).toBeLessThanOrEqual(list.y + list.height + 1);
    await board.server.asOperator('POST', '/v1/runs/run-of-many/cancel', {});
    await done();
  });

  it('appears also where the browser lets only service workers notify', async () => {
    const { page, context, done } = await board.open('/ui/approvals');
    await context.addInitScript(() => {
      localStorage.setItem('patchboard.notices', 'on');
      const Refusing = class {
        static readonly permission = 'granted';
        constructor() {
          throw new TypeError('Illegal constructor');
        }
      };
      Object.assign(globalThis, { Notification: Refusing });
    });
    await page.reload();
    await page.locator('[data-live="live"]').waitFor();
    const id = await ask({ path: '/notified' });
    await page.locator(`[data-approval="${id}"]`).waitFor();
    await board.server.asOperator('POST', `/v1/tool_calls/${id}/cancel`, {});
    await done();
  });

  it('edits with a diff, and what runs is what was edited', async () => {
    const id = await ask({ path: '/tmp/all', count: 3 });
    const { page, done } = await board.open(`/ui/approvals?call=${id}`);
    await shown(page, id);
    await page.keyboard.press('e');
    const editor = page.locator('[data-editor] .cm-content');
    await editor.waitFor();
    // Written differently, it is the same.
    await editor.fill('{"path":"/tmp/all","count":3}');
    await page.locator('[data-approval-detail]', { hasText: 'No difference.' }).waitFor();
    await editor.fill('{"path": "/tmp/one", "count": 99}');
    await page.locator('[data-approval-detail] .added', { hasText: '/tmp/one' }).waitFor();
    // What the tool's schema refuses is shown where it is, before a decision.
    await page.locator('[data-approval-detail] .bad', { hasText: '/count' }).waitFor();
    await page.locator('[data-approve-edited]').click();
    await page.locator('[data-approval-detail] .problem').waitFor();
    const before = await digestOf(id);
    await page.locator('[data-digest]', { hasText: before }).waitFor({ state: 'detached' });
    await editor.fill('{"path": "/tmp/one"}');
    // The digest on the screen is that of what is on the screen, and of what runs.
    const shownDigest = await page.locator('[data-digest] code').innerText();
    expect(shownDigest).not.toBe(before);
    await page.keyboard.press('Control+Enter');
    const call = await ended(id);
    expect(call.approval.digest).toBe(shownDigest);
    expect(call).toMatchObject({ state: 'COMPLETED', args: { path: '/tmp/one' } });
    expect(call.approval.original_args).toEqual({ path: '/tmp/all', count: 3 });
    await done();
  });

  it('keeps what is being written when the list cannot be loaded again', async () => {
    const id = await ask({ path: '/written' });
    const { page, done } = await board.open(`/ui/approvals?call=${id}`);
    await shown(page, id);
    await page.locator('[data-deny]').click();
    await page.locator('#deny-note').fill('because');
    await page.route('**/v1/approvals*', (route) => route.fulfill({ status: 400, json: {} }));
    const refused = page.waitForResponse('**/v1/approvals*');
    const other = await ask({ path: '/other' });
    await (await refused).finished();
    await page.locator('[data-state="stale"], [data-state="failed"]').waitFor();
    expect(await page.locator('#deny-note').count()).toBe(1);
    expect(await page.locator('#deny-note').inputValue()).toBe('because');
    await page.unroute('**/v1/approvals*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator(`[data-approval="${other}"]`).waitFor();
    await page.locator('[data-state="stale"]').waitFor({ state: 'detached' });
    for (const call of [id, other])
      await board.server.asOperator('POST', `/v1/tool_calls/${call}/cancel`, {});
    await done();
  });

  it("doesn't ask again within a scope that is written out, and asks again once that is revoked", async () => {
    const id = await ask({ path: '/cache' });
    const { page, done } = await board.open(`/ui/approvals?call=${id}`);
    await shown(page, id);
    await page.locator('[data-grant] .el-checkbox').first().click();
    await page
      .locator('[data-grant]', {
        hasText:
          'toy.remove runs without approval, with exactly these arguments, for agent planner, for one hour',
      })
      .waitFor();
    const cut = await page
      .locator('[data-grant] .el-select__placeholder')
      .evaluateAll((labels) =>
        labels.flatMap((label) => (label.scrollWidth > label.clientWidth ? [label.textContent] : [])),
      );
    expect(cut).toEqual([]);
    await page.locator('[data-approve]').click();
    expect((await ended(id)).state).toBe('COMPLETED');
    expect((await ended(await ask({ path: '/cache' }))).state).toBe('COMPLETED');
    const other = await ask({ path: '/other' });
    await page.locator(`[data-approval="${other}"]`).waitFor();
    await page.locator('[data-grant-id]').getByRole('button', { name: 'Revoke' }).click();
    await page.locator('[data-grant-id]').waitFor({ state: 'detached' });
    const again = await ask({ path: '/cache' });
    await page.locator(`[data-approval="${again}"]`).waitFor();
    await done();
  });

  it("doesn't ask again about arguments that fit conditions, which are written out", async () => {
    const id = await ask({ path: '/tmp/a', count: 3 });
    const { page, done } = await board.open(`/ui/approvals?call=${id}`);
    await shown(page, id);
    const grant = page.locator('[data-grant]');
    await grant.locator('.el-checkbox').first().click();
    await choose(page, 'Scope', 'Arguments that match');
    await choose(page, 'Condition on /path', 'begins with');
    await page.getByLabel('Value for /path').fill('/tmp/');
    await choose(page, 'Condition on /count', 'is at most');
    await page.getByLabel('Value for /count').fill('5');
    await page.getByLabel('Value for /count').press('Tab');
    await grant
      .getByText('toy.remove runs without approval, when /path begins with "/tmp/" and /count is at most 5')
      .waitFor();
    await page.locator('[data-approve]').click();
    expect((await ended(id)).state).toBe('COMPLETED');
    await page.locator('[data-grant-id]', { hasText: '/path begins with "/tmp/"' }).waitFor();
    expect((await ended(await ask({ path: '/tmp/b', count: 5 }))).state).toBe('COMPLETED');
    const more = await ask({ path: '/tmp/b', count: 6 });
    await page.locator(`[data-approval="${more}"]`).waitFor();
    await page.locator('[data-grant-id]').getByRole('button', { name: 'Revoke' }).click();
    await page.locator('[data-grant-id]').waitFor({ state: 'detached' });
    await done();
  });

  it('decides on one call with a double click or a key that is held down, and names it', async () => {
    const calls = await Promise.all(
      ['/1', '/2', '/3'].map((path) => ask({ path: `/double${path}` }, 'other')),
    );
    const { page, done } = await board.open('/ui/approvals');
    for (const id of calls) await page.locator(`[data-approval="${id}"]`).waitFor();
    const first = await page.locator('[data-approval][aria-current="true"]').getAttribute('data-approval');
    const approve = await page.locator('[data-approve]').boundingBox();
    if (approve === null) throw new Error('the button is not shown');
    const at = [approve.x + approve.width / 2, approve.y + approve.height / 2] as const;
    await page.mouse.click(...at);
    await page.locator('[data-decided]', { hasText: first! }).waitFor();
    const moved = await page.locator('[data-approve]').boundingBox();
    // What the second half of a double click is, once the next call is shown.
    await page.mouse.move(at[0], moved!.y + moved!.height / 2);
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    const second = await page.locator('[data-approval][aria-current="true"]').getAttribute('data-approval');
    await page.keyboard.down('a');
    await page.locator('[data-decided]', { hasText: second! }).waitFor();
    await page.keyboard.down('a');
    await page.keyboard.down('a');
    await page.keyboard.up('a');
    const states = await Promise.all(
      calls.map(async (id) => {
        const response = await board.server.ask({ method: 'GET', path: `/v1/tool_calls/${id}` });
        return [id, (response.json as Record_).state] as const;
      }),
    );
    const open = states.filter(([, state]) => state === 'APPROVAL_REQUIRED').map(([id]) => id);
    expect(open).toEqual(calls.filter((id) => id !== first && id !== second));
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    await page.locator('[data-decided]', { hasText: `Denied:` }).waitFor();
    await page.locator('[data-decided]', { hasText: open[0]! }).waitFor();
    await done();
  });

  it('keeps the last decision in view on a phone, where the page is scrolled to the buttons', async () => {
    for (const path of ['/phone/1', '/phone/2']) await ask({ path });
    const { page, done } = await board.open('/ui/approvals', { viewport: { width: 390, height: 600 } });
    await page.locator('[data-approve]').click();
    const link = page.locator('[data-decided] a');
    await link.waitFor();
    await page.locator('[data-approve]').scrollIntoViewIfNeeded();
    const isSeen = await link.evaluate((shown) => {
      const { left, top, width, height } = shown.getBoundingClientRect();
      return shown.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    expect(isSeen).toBe(true);
    await page.locator('[data-approve]').click();
    await done();
  });

  it('opens the call that a link names by id, and says when it no longer waits', async () => {
    const first = await ask({ path: '/before' }, 'other');
    const linked = await ask({ path: '/linked' }, 'other');
    const { page, done } = await board.open(`/ui/approvals?id=${linked}`);
    await shown(page, linked);
    await page.locator('[data-approval-detail]', { hasText: '/linked' }).waitFor();
    await page.keyboard.press('a');
    expect(await ended(linked)).toMatchObject({ state: 'COMPLETED' });
    await done();
    const later = await board.open(`/ui/approvals?id=${linked}`);
    await later.page.getByText('This call no longer waits').waitFor();
    await later.done();
    await board.server.ask({ method: 'POST', path: `/v1/tool_calls/${first}/cancel`, body: {} });
  });

  it('decides on nothing when the call that was shown is gone, even with others waiting', async () => {
    const gone = await ask({ path: '/gone' }, 'other');
    const stays = await ask({ path: '/stays' }, 'other');
    const { page, done } = await board.open(`/ui/approvals?call=${gone}`);
    await shown(page, gone);
    await board.server.ask({ method: 'POST', path: `/v1/tool_calls/${gone}/cancel`, body: {} });
    await page.getByText('This call no longer waits').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('d');
    await page.keyboard.press('j');
    await page.locator('[data-approval-detail]').waitFor();
    const record = (await board.server.ask({ method: 'GET', path: `/v1/tool_calls/${stays}` }))
      .json as Record_;
    expect(record.state).toBe('APPROVAL_REQUIRED');
    await done();
  });
});
