import { createClient } from '@patchboard/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accepted, aPrincipal, aRequest, aServerTool, manualTool } from '../support/an-engine.ts';
import { aConsole, choose, type TestConsole } from './support/a-console.ts';
import { echo, endless, remove } from './support/toys.ts';

const broken = aServerTool({
  name: 'toy.broken',
  execute: () => Promise.reject(new Error('the disk is full')),
});
const manual = manualTool('toy.delegate', { timeoutMs: 600_000 });

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, endless, remove, broken, manual.tool], hasPageCache: true });
});
afterAll(async () => {
  await board?.close();
});

async function invoke(
  run: string,
  tool: string,
  args: unknown = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await board.server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers: { 'x-agent-id': 'planner', ...headers },
    body: { run_id: run, args },
  });
  return (response.json as { tool_call_id: string }).tool_call_id;
}

/** A call that a sub-agent makes in a run of its own. */
async function invokeBelow(parentCallId: string, run: string): Promise<string> {
  const request = aRequest({ toolName: 'toy.echo', runId: run, parentCallId });
  return accepted(await board.server.platform.engine.submit(request, aPrincipal({ agentId: 'planner' }))).id;
}

/** Goes to a run with the palette, without loading the page anew. */
async function goTo(page: Page, run: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.locator('[data-palette] input:focus').waitFor();
  await page.keyboard.type(run);
  await page.locator('[data-palette] [role=option]').getByText(run, { exact: true }).first().waitFor();
  await page.locator('[data-palette] [role=option]', { hasText: new RegExp(`^${run}\\s*run$`) }).click();
  await page.waitForURL(`**/ui/runs/${run}*`);
}

const row = (id: string): string => `[data-waterfall] [data-call="${id}"]`;
const focusIsOn = (page: Page, id: string): Promise<void> =>
  expect
    .poll(() =>
      page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-call]')?.dataset['call']),
    )
    .toBe(id);

describe('a call that is queued for a client which is away', () => {
  it('waits: its run is not shown as running, in both languages', async () => {
    const tool = {
      name: 'desk.print',
      description: 'Prints',
      schema: { type: 'object' },
      timeoutMs: 600_000,
    };
    await createClient({ url: board.url, agentId: 'desk' }).provider('desk').register([tool]);
    const queued = await invoke('for-the-desk', 'desk.print');
    const { page, done } = await board.open('/ui/runs');
    await page
      .locator('[data-run="for-the-desk"] [data-outcome="waiting"]', { hasText: 'Waiting' })
      .waitFor();
    await page.locator('[data-run="for-the-desk"]').getByRole('link').click();
    await page.locator('[data-counts]', { hasText: '1 call · 1 open (0 running, 1 waiting)' }).waitFor();
    await page.locator(`${row(queued)} [data-state="PENDING"]`, { hasText: 'Queued' }).waitFor();
    await page.locator(`${row(queued)} [data-segment="PENDING"].open`).waitFor();
    const another = 'of-the-same-agent';
    await invoke(another, 'toy.echo', {}, { prefer: 'wait=30' });
    await page.goto(`${board.url}/ui/runs/${another}`);
    await page.locator('[data-compare]').click();
    const choice = page.locator('[data-compare-with] .entry', { hasText: 'for-the-desk' });
    await choice.locator('[data-outcome="waiting"]').waitFor();
    await choice.getByText('1 call · 1 open (0 running, 1 waiting) · 0 failed').waitFor();
    await page.goto(`${board.url}/ui/calls?query=state:waiting`);
    await page.locator(`[data-call="${queued}"]`).waitFor();
    await page.locator('.el-select', { hasText: 'Waiting: open and not executed' }).waitFor();
    await page.goto(`${board.url}/ui/runs?outcome=running`);
    await page.getByRole('button', { name: '切换到中文' }).click();
    await page.locator('[data-run="for-the-desk"] [data-outcome="waiting"]', { hasText: '等待中' }).waitFor();
    await done();
  });
});

describe('runs', () => {
  it('lead from the list to a run, to a call, and back', async () => {
    const first = await invoke('walk', 'toy.echo', { n: 1 });
    const second = await invoke('walk', 'toy.broken');
    const { page, done } = await board.open('/ui/runs');
    const listed = page.locator('[data-run="walk"]');
    await listed.locator('[data-outcome="failed"]').waitFor();
    await listed.locator('[data-failed]', { hasText: '1' }).waitFor();
    await listed.getByRole('link').click();
    await page.waitForURL('**/ui/runs/walk*');
    await page.locator('[data-counts]', { hasText: '2 calls · 0 open · 1 failed' }).waitFor();
    expect(await page.locator('[data-count="open"]').count()).toBe(0);
    await page.locator('[data-count="failed"]', { hasText: '1 failed' }).click();
    await page.waitForURL(
      (url) => url.searchParams.get('query')?.startsWith('run:walk state:failed,') === true,
    );
    await page.locator(`[data-call="${second}"]`).waitFor();
    expect(await page.locator(`[data-call="${first}"]`).count()).toBe(0);
    await page.goBack();
    await page.locator('[data-count="total"]', { hasText: '2 calls' }).click();
    await page.locator(`[data-call="${first}"]`).waitFor();
    await page.goBack();
    // The axis has round times, whatever the length of the run.
    const ticks = await page.locator('[data-tick]').allInnerTexts();
    const numbers = ticks.map((tick) => Number(tick.split(' ')[0]));
    expect(numbers.every(Number.isInteger)).toBe(true);
    expect(numbers.length).toBeGreaterThan(1);
    await page.locator(row(second), { hasText: 'tool_failed' }).locator('.bar.failed').waitFor();
    await page.locator(row(first)).getByRole('link').focus();
    await page.keyboard.press('ArrowDown');
    await focusIsOn(page, second);
    await page.locator('[data-glance]', { hasText: 'the disk is full' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/ui/calls/${second}*`);
    await page.locator('[data-run-link]', { hasText: 'walk' }).waitFor();
    await page.goBack();
    await focusIsOn(page, second);
    await page.goBack();
    await listed.waitFor();
    // Out of the cache of the browser the page is live again.
    await page.goto(`${board.url}/ui/runs/walk`);
    await page.locator(row(first)).waitFor();
    await page.goto('about:blank');
    await page.goBack({ waitUntil: 'commit' });
    const third = await invoke('walk', 'toy.echo', { n: 3 });
    await page.locator(row(third)).waitFor();
    await done();
  });

  it('of an earlier day show the date, also on a phone', async () => {
    await invoke('dated', 'toy.echo');
    const { page, done } = await board.open('/ui/runs', { viewport: { width: 390, height: 844 } });
    const time = page.locator('[data-run="dated"] .time');
    await time.waitFor();
    expect(await time.innerText()).toMatch(/^\d+:\d+:\d+/);
    await page.locator('[data-run="dated"] [data-narrow-agent]:visible').waitFor();
    await page.clock.setFixedTime(Date.now() + 3 * 86_400_000);
    await page.reload();
    await time.waitFor();
    expect(await time.innerText()).toMatch(/^\d+\/\d+$/);
    await done();
  });

  it('open a call by a click on its bar or anywhere on its row, which says why it failed; Escape leads back', async () => {
    const failed = await invoke('clicked', 'toy.broken');
    const { page, done } = await board.open('/ui/runs/clicked');
    const opened = `**/ui/calls/${failed}*`;
    // Forced: the link of the row lies above its parts.
    for (const part of ['.bar', '.track', '[data-state]', '.end']) {
      await page
        .locator(`${row(failed)} ${part}`)
        .first()
        .click({ force: true });
      await page.waitForURL(opened);
      const failure = page.locator('[data-failure]', { hasText: 'the tool reported a failure' });
      await failure.locator('[data-failure-message]', { hasText: 'the disk is full' }).waitFor();
      await failure.locator('[data-failure-advice]', { hasText: 'edit and replay' }).waitFor();
      await page.keyboard.press('Escape');
      await page.waitForURL('**/ui/runs/clicked*');
    }
    await page.locator(row(failed)).getByRole('link').press('Enter');
    await page.waitForURL(opened);
    await page.locator('[data-back]', { hasText: 'Run' }).click();
    await page.waitForURL('**/ui/runs/clicked*');
    await page.keyboard.press('Escape');
    await page.waitForURL('**/ui/runs');
    await done();
  });

  it('do not move while their times grow', async () => {
    await invoke('steady', 'toy.remove', { path: '/x' });
    await invoke('steady', 'toy.endless');
    const { page, done } = await board.open('/ui/runs/steady');
    await page.locator('[data-slowest]', { hasText: 'toy.endless' }).waitFor();
    const places = (time: string): Promise<readonly unknown[]> =>
      page.locator('[data-summary]').evaluate((summary, text) => {
        for (const shown of summary.querySelectorAll('[data-grows]')) shown.textContent = text;
        const boxes = [summary, ...summary.querySelectorAll('dt')];
        return boxes.map((box) => box.getBoundingClientRect().toJSON() as unknown);
      }, time);
    expect(await page.locator('[data-grows]').count()).toBe(4);
    expect(await places('59 min 59 s')).toEqual(await places('1 ms'));
    await done();
  });

  it('are listed by outcome, and leave the list with it', async () => {
    await invoke('ended-badly', 'toy.broken');
    await invoke('still-open', 'toy.endless');
    const { page, done } = await board.open('/ui/runs');
    await page.locator('[data-run="ended-badly"]').waitFor();
    await choose(page, 'Outcome', 'Running or waiting');
    await page.waitForURL('**outcome=running*');
    const open = page.locator('[data-run="still-open"] [data-outcome="running"]');
    await open.waitFor();
    await page.locator('[data-run="ended-badly"]').waitFor({ state: 'detached' });
    // Over the list the pointer would hold its rows.
    await page.mouse.move(0, 0);
    const path = '/v1/runs/still-open/cancel';
    await board.server.ask({ method: 'POST', path, headers: { 'x-agent-id': 'planner' }, body: {} });
    await open.waitFor({ state: 'detached' });
    await page.goto(`${board.url}/ui/runs?outcome=cancelled`);
    await page.locator('[data-run="still-open"] [data-outcome="cancelled"]').waitFor();
    await page.goto(`${board.url}/ui/runs?outcome=failed&agent=nobody`);
    await page.locator('[data-state="empty"]', { hasText: 'No run matches' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.locator('[data-run="ended-badly"]').waitFor();
    await done();
  });

  it('are found by their agent or their id, and two that are selected are compared', async () => {
    for (const run of ['searched-1', 'searched-2', 'searched-3'])
      await invoke(run, 'toy.echo', { run }, { 'x-agent-id': 'searcher' });
    const { page, done } = await board.open('/ui/runs');
    const search = page.getByRole('combobox', { name: 'Agent, or id of a run' });
    await page.keyboard.press('/');
    await search.fill('searcher');
    await search.press('Enter');
    await page.waitForURL('**agent=searcher*');
    await expect.poll(() => page.locator('[data-run]').count()).toBe(3);
    // One by its box, one by its key; a third is too many.
    const select = (run: string): Promise<void> => page.locator(`[data-run="${run}"] [data-select]`).click();
    const compare = page.locator('[data-compare-runs]');
    await select('searched-3');
    await page.locator('[data-runs-bar]', { hasText: 'Select two runs' }).waitFor();
    expect(await compare.isDisabled()).toBe(true);
    await page.locator('[data-run="searched-1"]').getByRole('link').focus();
    await page.keyboard.press('x');
    await page.locator('[data-runs-bar]', { hasText: '2 runs selected' }).waitFor();
    await select('searched-2');
    expect(await compare.isDisabled()).toBe(true);
    await select('searched-2');
    await compare.click();
    await page.waitForURL('**/ui/compare?a=searched-1&b=searched-3*');
    await page.keyboard.press('Escape');
    await page.waitForURL('**agent=searcher*');
    await search.fill('searched-2');
    await search.press('Enter');
    await page.waitForURL('**/ui/runs/searched-2*');
    await done();
  });

  it('are not opened by a search that ends after the page was left', async () => {
    await invoke('sought', 'toy.echo');
    const { page, done } = await board.open('/ui/runs');
    let respond = (): void => {};
    const gate = new Promise<void>((resolve) => (respond = resolve));
    await page.route('**/v1/runs/sought*', async (route) => {
      await gate;
      await route.continue();
    });
    const search = page.getByRole('combobox', { name: 'Agent, or id of a run' });
    const requested = page.waitForRequest('**/v1/runs/sought*');
    await search.fill('sought');
    await search.press('Enter');
    await requested;
    await page.locator('nav a[href^="/ui/calls"]').click();
    await page.locator('[data-call]').first().waitFor();
    const responded = page.waitForResponse('**/v1/runs/sought*');
    respond();
    await responded;
    await expect(page.waitForURL('**/ui/runs/sought*', { timeout: 500 })).rejects.toThrow('Timeout');
    await done();
  });

  it('grow while their calls run, and are cancelled after a list of what ends', async () => {
    const waiting = await invoke('growing', 'toy.remove', { path: '/x' });
    const { page, done } = await board.open('/ui/runs/growing?tenant=default');
    await page.locator(`${row(waiting)} [data-segment="APPROVAL_REQUIRED"].open`).waitFor();
    await page.locator('[data-waiting]', { hasText: 'toy.remove waits now' }).waitFor();
    expect(await page.locator('[data-share]').getAttribute('data-share')).toBe(
      `${board.url}/ui/runs/growing?tenant=default`,
    );
    const late = await invoke('growing', 'toy.endless');
    await page.locator(`${row(late)} [data-segment="EXECUTING"].open`).waitFor();
    await page
      .locator('[data-counts]', { hasText: '2 calls · 2 open (1 running, 1 waiting) · 0 failed' })
      .waitFor();
    await page.locator('[data-count="waiting"]', { hasText: '1 waiting' }).click();
    await page.waitForURL((url) => url.searchParams.get('query') === 'run:growing state:waiting');
    await page.locator(`[data-call="${waiting}"]`).waitFor();
    expect(await page.locator(`[data-call="${late}"]`).count()).toBe(0);
    await page.goBack();
    await page.locator('[data-cancel-run]').click();
    const ends = page.locator('[data-ends]');
    await ends.getByText('This ends 2 open calls').waitFor();
    await ends.getByText('toy.remove').waitFor();
    await ends.getByText('toy.endless').waitFor();
    await page.locator('[data-confirm-cancel]').click();
    await page.locator('[data-summary] [data-outcome="cancelled"]').waitFor();
    await page.locator(`${row(late)} [data-state="CANCELLED"]`).waitFor();
    await page.locator('[data-cancel-run]').waitFor({ state: 'detached' });
    await done();
  });

  it('show the calls of sub-agents below the call they work for, which the arrow keys fold', async () => {
    const parent = await invoke('delegating', 'toy.delegate');
    const early = await invokeBelow(parent, 'sub-agent 1');
    const { page, done } = await board.open('/ui/runs/delegating');
    // One was made before the page was opened, the other after.
    await page.locator(`${row(early)}[aria-level="2"]`).waitFor();
    const late = await invokeBelow(parent, 'sub-agent 2');
    await page.locator(`${row(late)}[aria-level="2"]`).waitFor();
    await page.locator(row(parent)).getByRole('link').focus();
    await page.keyboard.press('ArrowRight');
    await focusIsOn(page, early);
    await page.keyboard.press('ArrowLeft');
    await focusIsOn(page, parent);
    await page.keyboard.press('ArrowLeft');
    await page.locator(row(late)).waitFor({ state: 'detached' });
    await page.locator(`${row(parent)}[aria-expanded="false"]`).waitFor();
    await page.locator(`${row(parent)} [data-fold]`).click();
    await page.locator(row(early)).getByRole('link').click();
    await page.locator('[data-parent-link]', { hasText: parent }).waitFor();
    manual.running.get(parent)?.resolve('done');
    await done();
  });

  it('show nothing that was requested of another run', async () => {
    const parent = await invoke('left', 'toy.delegate');
    const below = await invokeBelow(parent, 'sub-agent of left');
    await invoke('entered', 'toy.echo', {}, { 'x-agent-id': 'other' });
    const { page, done } = await board.open('/ui/runs/entered');
    await page.getByRole('heading', { name: 'Run of other' }).waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const isHead = ({ pathname, searchParams }: URL): boolean =>
      pathname === '/v1/runs/left' && !searchParams.has('order');
    const isBelow = ({ searchParams }: URL): boolean =>
      (searchParams.get('query') ?? '').startsWith('parent:');
    const late: Promise<unknown>[] = [];
    for (const isLate of [isHead, isBelow]) {
      await page.route(isLate, async (route) => {
        await held;
        await route.continue();
      });
      late.push(page.waitForResponse((response) => isLate(new URL(response.url()))));
    }
    const requested = [isHead, isBelow].map((isLate) =>
      page.waitForRequest((request) => isLate(new URL(request.url()))),
    );
    await goTo(page, 'left');
    await page.locator(row(parent)).waitFor();
    // The run is read again after each event.
    await invoke('left', 'toy.echo');
    await Promise.all(requested);
    await goTo(page, 'entered');
    await page.getByRole('heading', { name: 'Run of other' }).waitFor();
    await page.evaluate(() => {
      const titles: string[] = [];
      const note = (): void => void titles.push(document.querySelector('h1')?.textContent ?? '');
      new MutationObserver(note).observe(document.body, {
        childList: true,
        subtree: true,
        characterData: true,
      });
      Object.assign(globalThis, { titles });
    });
    release();
    await Promise.all(late);
    // When the page shows a later call, it has read the late responses.
    const next = await invoke('entered', 'toy.echo', {}, { 'x-agent-id': 'other' });
    await page.locator(row(next)).waitFor();
    expect(await page.locator(row(below)).count()).toBe(0);
    const titles = await page.evaluate(() => (globalThis as unknown as { titles: string[] }).titles);
    expect(new Set(titles)).toEqual(new Set(['Run of other']));
    manual.running.get(parent)?.resolve('done');
    await done();
  });

  it('are loaded page by page, and have a screenful of rows in the page', async () => {
    const calls = await Promise.all(Array.from({ length: 230 }, (_, n) => invoke('long', 'toy.echo', { n })));
    const { page, done } = await board.open('/ui/runs/long');
    await page.locator('[data-more="more"]', { hasText: '100 of 230 calls' }).waitFor();
    const rows = page.locator('[data-waterfall] [data-call]');
    expect(await rows.count()).toBeLessThan(80);
    await page.locator('[data-load-more]').click();
    await page.locator('[data-more]', { hasText: '200 of 230 calls' }).waitFor();
    await page.locator('[data-scroller]').press('End');
    await page.locator('[data-more="end"]', { hasText: `${calls.length} calls.` }).waitFor();
    expect(await rows.count()).toBeLessThan(80);
    await done();
  });

  it('that do not exist say so, and lead to the calls', async () => {
    const { page, done } = await board.open('/ui/runs/none');
    await page.locator('[data-state="failed"]').waitFor();
    await page.getByRole('link', { name: 'list of calls' }).click();
    await page.waitForURL('**/ui/calls?*');
    await done();
  });
});

describe('a trace', () => {
  it('has the calls of all its runs, also new ones', async () => {
    const trace = { 'x-trace-id': 'trace-of-two' };
    const one = await invoke('traced-1', 'toy.echo', {}, trace);
    const two = await invoke('traced-2', 'toy.echo', {}, trace);
    const { page, done } = await board.open(`/ui/calls/${one}`);
    await page.locator('[data-trace-link]').click();
    await page.waitForURL('**/ui/traces/trace-of-two*');
    await page.locator(row(one)).waitFor();
    await page.locator(row(two)).waitFor();
    const three = await invoke('traced-2', 'toy.echo', {}, trace);
    await page.locator(row(three)).waitFor();
    await page.locator('[data-count="total"]', { hasText: '3 calls' }).click();
    await page.waitForURL((url) => url.searchParams.get('query') === 'trace:trace-of-two');
    await done();
  });
});

describe('a comparison', () => {
  it('of two runs pairs their calls, and leads to the difference of two calls', async () => {
    // The page shows the runs as they are when it is opened.
    const ended = { 'x-agent-id': 'comparer', prefer: 'wait=30' };
    for (const [run, word] of [
      ['before', 'one'],
      ['after', 'two'],
    ] as const) {
      await invoke(run, 'toy.echo', { same: true }, ended);
      await invoke(run, 'toy.echo', { word }, ended);
    }
    await invoke('after', 'toy.broken', {}, ended);
    const { page, done } = await board.open('/ui/runs/after');
    await page.locator('[data-compare]').click();
    await page.locator('[data-compare-with] .entry', { hasText: 'before' }).click();
    await page.waitForURL('**/ui/compare?a=before&b=after*');
    expect(await page.locator('[data-share]').getAttribute('data-share')).toBe(
      `${board.url}/ui/compare?a=before&b=after&tenant=default`,
    );
    await expect
      .poll(() =>
        page
          .locator('[data-pair]')
          .evaluateAll((pairs) => pairs.map((pair) => (pair as HTMLElement).dataset['pair'])),
      )
      // On a busy machine the durations may differ too.
      .toEqual([expect.stringMatching(/^(same|duration)$/), expect.stringMatching(/^args/), 'extra']);
    await page.locator('[data-pair^="args"]').getByRole('button').click();
    await page.locator('[data-pair-detail] .added', { hasText: '"word": "two"' }).waitFor();
    const detail = await page.locator('[data-pair-detail]').boundingBox();
    const foot = await page.locator('[data-run-comparison] [data-more="end"]').boundingBox();
    expect(foot!.y + foot!.height).toBeLessThanOrEqual(detail!.y);
    // A link with the open pair opens it again, with the arguments in view.
    const link = (await page.locator('[data-share*="pair="]').getAttribute('data-share'))!;
    await page.goto('about:blank');
    await page.goto(link);
    const word = page.locator('[data-pair-detail] .added', { hasText: '"word": "two"' });
    await word.waitFor();
    await page.locator('[data-pair^="args"] :focus').waitFor();
    const [shown, inner] = [await page.locator('[data-pair-detail]').boundingBox(), await word.boundingBox()];
    expect(shown!.y + shown!.height).toBeLessThanOrEqual(800);
    expect(inner!.y + inner!.height).toBeLessThanOrEqual(shown!.y + shown!.height);
    await page.locator('[data-compare-calls]').click();
    await page.locator('[data-call-comparison] [data-args] .removed', { hasText: '"word": "one"' }).waitFor();
    await page.locator('[data-call-comparison] [data-result] .added', { hasText: '"word": "two"' }).waitFor();
    await page.goBack();
    await page.locator('[data-pair="extra"]').waitFor();
    await done();
  });

  it('that failed is loaded by one click, also if both sides failed', async () => {
    const calls = [await invoke('failing-a', 'toy.echo'), await invoke('failing-b', 'toy.echo')];
    const { page, done } = await board.open('/ui/nowhere');
    for (const [path, shown] of [
      ['a=failing-a&b=failing-b', '[data-run-comparison]'],
      [`a=${calls[0]}&b=${calls[1]}`, '[data-call-comparison]'],
    ] as const) {
      const routes = /\/v1\/(runs|tool_calls)\//;
      const read = new Set<string>();
      page.on('requestfinished', (request) => read.add(new URL(request.url()).pathname));
      await page.route(routes, (route) => route.fulfill({ status: 500, json: {} }));
      await page.goto(`${board.url}/ui/compare?${path}`);
      await page.locator('main [data-state="failed"]').waitFor();
      await expect.poll(() => [...read].filter((one) => routes.test(one)).length).toBe(2);
      await page.unroute(routes);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.locator(shown).waitFor();
    }
    await done();
  });

  it('of a replay with its original is a choice of the call', async () => {
    const original = await invoke('replayed', 'toy.echo', { word: 'hello' });
    const { page, done } = await board.open(`/ui/calls/${original}`);
    await page.locator('[data-replay]').click();
    await page.getByRole('link', { name: original }).waitFor();
    await page.locator('[data-compare]').click();
    await page.locator('[data-original]').click();
    await page.waitForURL(`**/ui/compare?a=${original}&b=tc_*`);
    await page.locator('[data-args]', { hasText: 'No difference.' }).waitFor();
    await done();
  });
});
