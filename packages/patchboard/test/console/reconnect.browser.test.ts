import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDataFolder, aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo } from './support/toys.ts';

const folder = aDataFolder();
let board: TestConsole;
let again: TestPlatform | undefined;
beforeAll(async () => {
  board = await aConsole({ tools: [echo], folder, port: await aFixedPort(), hasOwnBrowser: true });
});
afterAll(async () => {
  await board?.browser.close();
  await again?.close();
  folder.remove();
});

describe('a server that goes away', () => {
  it('is shown as disconnected, and the page catches up by itself when it is back', async () => {
    const { page, context, done } = await board.open('/ui/calls');
    const { port } = board.server;
    const body = { run_id: 'r', args: {} };
    const before = await board.server.ask({ method: 'POST', path: '/v1/tools/toy.echo/invoke', body });
    const { tool_call_id: first } = before.json as { tool_call_id: string };
    await page.locator(`[data-call="${first}"] [data-state="COMPLETED"]`).waitFor();
    // A tab that goes on with the console of an earlier version.
    const old = await context.newPage();
    await old.goto(`${board.url}/ui/approvals`);
    await old.locator('[data-live="live"]').waitFor();
    await old.route('**/ui/', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/assets\/index-[^"]+\.js/, 'assets/index-newer.js');
      await route.fulfill({ response, body });
    });
    await board.server.platform.close();
    await page.locator('[data-live="lost"]', { hasText: 'as of' }).waitFor();
    // Its age grows, which a screen reader does not read out each time.
    const shown = await page.locator('[data-live] .words').innerText();
    const status = page.locator('[data-live][role="status"], [data-live] [role="status"]');
    const spoken = await status.textContent();
    await expect.poll(() => page.locator('[data-live] .words').innerText()).not.toBe(shown);
    expect(await status.textContent()).toBe(spoken);
    // What was there can still be read.
    await page.locator(`[data-call="${first}"]`).waitFor();
    // A page that was never opened is not there yet: it comes when the server does.
    await page.getByRole('link', { name: 'Metrics' }).click();
    await page
      .locator('[data-missing="unreachable"]', { hasText: '“Metrics” cannot be shown now' })
      .waitFor();
    again = await aPlatform({ tools: [echo], folder, port });
    const meanwhile = await again.ask({ method: 'POST', path: '/v1/tools/toy.echo/invoke', body });
    const { tool_call_id: second } = meanwhile.json as { tool_call_id: string };
    await old.locator('[data-missing="newer"]', { hasText: 'a new version of the console' }).waitFor();
    await page.waitForURL('**/ui/metrics*');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await page.goBack();
    await page.locator('[data-live="live"]').waitFor();
    await page.locator(`[data-call="${second}"]`).waitFor();
    // Sessions end with the process, and the page says so.
    await page.locator('[data-notice="session-ended"]', { hasText: 'npx patchboard login' }).waitFor();
    await done();
  });
});
