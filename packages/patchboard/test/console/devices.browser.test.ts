import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, choose, type TestConsole } from './support/a-console.ts';

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'patchboard.mjs');

let board: TestConsole;
let demo: ChildProcess | undefined;
beforeAll(async () => {
  board = await aConsole();
});
afterAll(async () => {
  if (demo !== undefined && demo.exitCode === null && demo.signalCode === null) {
    const ended = once(demo, 'exit');
    demo.kill('SIGTERM');
    await ended;
  }
  await board?.close();
});

describe('a real demo device', () => {
  it('turns the drawer green when it connects, provides its tools, requires approval, and disconnects', async () => {
    const { page, done } = await board.open('/ui/devices');
    await page.locator('[data-state="empty"]', { hasText: 'npx patchboard device demo' }).waitFor();
    await page.locator('[data-connect]').click();
    await page.locator('[data-arrival]', { hasText: 'Waiting' }).waitFor();
    demo = spawn(process.execPath, [BIN, 'device', 'demo', '--url', board.url, '--name', 'pocket'], {
      stdio: 'ignore',
    });
    await page.locator('[data-arrival]', { hasText: 'pocket is connected' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[data-device="pocket"] [data-state="online"]').waitFor();
    await page.locator('[data-badge="devices"]').waitFor();

    await page.goto(`${board.url}/ui/tester`);
    await page.locator('[data-tool="calculation.eval"]').waitFor();
    await choose(page, 'Device', 'pocket');
    await page.locator('[data-tool="calculation.eval"]').waitFor({ state: 'detached' });
    await page.locator('[data-tool="camera"]').waitFor();
    await page.waitForURL('**device=pocket*');

    await page.goto(`${board.url}/ui/tester?tool=contacts&args=%7B%22query%22%3A%22ada%22%7D`);
    await page.locator('[data-field="/query"]').waitFor();
    await page.locator('[data-run]').click();
    await page.locator('[data-result]', { hasText: 'Ada Lovelace' }).waitFor();

    // Called by an agent, because a caller cannot decide its own call.
    const body = { run_id: 'r', args: { quality: 'high' } };
    await board.server.ask({ method: 'POST', path: '/v1/tools/camera/invoke', body });
    await page.goto(`${board.url}/ui/approvals`);
    await page.locator('[data-approval-detail]', { hasText: 'camera' }).waitFor();
    await page.keyboard.press('a');
    await page.locator('[data-approval-detail]').waitFor({ state: 'detached' });
    await page.goto(`${board.url}/ui/calls?tool=camera`);
    await page.locator('[data-call] [data-state="COMPLETED"]').waitFor();
    await page.locator('[data-call] a').click();
    await page.locator('.facts [data-ran-on]', { hasText: 'pocket' }).waitFor();

    await page.goto(`${board.url}/ui/devices`);
    await page.locator('[data-device="pocket"] [data-median="contacts"]').waitFor();
    expect(
      await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name)),
    ).not.toEqual(expect.arrayContaining([expect.stringContaining('/v1/tool_calls')]));
    // By a query that selects the calls of its client.
    await page.locator('[data-device="pocket"] [data-client-calls]').click();
    await page.waitForURL((address) => /^client:\S+$/.test(address.searchParams.get('query') ?? ''));
    await page.locator('[data-call]', { hasText: 'camera' }).waitFor();
    await page.locator('[data-call]', { hasText: 'contacts' }).waitFor();
    await page.goBack();
    await page.locator('[data-device="pocket"] [data-state="online"]').waitFor();
    demo.kill('SIGTERM');
    await once(demo, 'exit');
    await page.locator('[data-device="pocket"] [data-state="online"]').waitFor({ state: 'detached' });
    await done();
  });
});

describe('the programs of the drawer', () => {
  it.each([
    ['en', /Install the client/, /install the package websockets/],
    ['zh-CN', /安装客户端/, /安装 websockets 包/],
  ])('say how they are run, and no line of them is cut: %s', async (locale, javascript, python) => {
    const { page, done } = await board.open('/ui/devices', { locale });
    const drawer = page.getByRole('dialog');
    const howTo = drawer.locator('[data-how-to-run]');
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const snippet of ['javascript', 'python', 'frames']) {
        await page.goto(`${board.url}/ui/devices?snippet=${snippet}`);
        await page.locator('[data-connect]').click();
        await drawer.locator('pre').waitFor();
        const [inner, outer] = await drawer
          .locator('pre')
          .evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
        expect({ width, snippet, inner }).toEqual({ width, snippet, inner: outer });
        if (snippet === 'frames') await howTo.filter({ hasText: '→' }).waitFor();
        else await howTo.filter({ hasText: snippet === 'python' ? python : javascript }).waitFor();
      }
    }
    await page.goto(`${board.url}/ui/devices?snippet=javascript`);
    await page.locator('[data-connect]').click();
    await drawer.getByText('node my-device.mjs', { exact: true }).waitFor();
    await done();
  });
});

describe('the parser', () => {
  it('marks requests and damage while one types, offers the fix, and runs one or all', async () => {
    const { page, done } = await board.open('/ui/tester?pane=parser');
    await page.locator('[data-sample]').click();
    await page.locator('[data-span="request"]').first().waitFor({ state: 'attached' });
    await page
      .locator('[data-request="calculation.eval"] [data-argument="expression"]', { hasText: '(3+4)*6' })
      .waitFor();
    await page.locator('[data-run-one]').click();
    await page.locator('[data-request] [data-state="COMPLETED"]').waitFor();

    await page
      .locator('[data-reply]')
      .fill('ok <<<[TOOL_REQUEST]>>>\ntool_name:「始」calculation.eval「末」\nexpression:「始」1+1');
    await page.locator('[data-problem]', { hasText: 'line 3, column 12' }).waitFor();
    await page.locator('[data-span="damage"]').first().waitFor({ state: 'attached' });
    await page.locator('[data-fix]').click();
    await page.locator('[data-request="calculation.eval"]').waitFor();
    await page.locator('[data-problem]').waitFor({ state: 'detached' });
    await page.locator('[data-run-all]').click();
    await page.locator('[data-send-back]', { hasText: '<<<[TOOL_RESULT]>>>' }).waitFor();
    await page.locator('[data-send-back] pre', { hasText: '2' }).waitFor();
    await done();
  });
});
