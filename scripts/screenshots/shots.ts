import type { Page } from 'playwright-core';
import type { Scene } from './scene.ts';

/** One screenshot: its URL, and the condition that the page is ready. */
export interface Shot {
  readonly name: string;
  readonly path: string;
  ready(page: Page): Promise<void>;
}

const REPLY = `I will compute both.
<<<[TOOL_REQUEST]>>>
tool_name:「始」calculation.eval「末」
expression:「始」(3+4)*6「末」
<<<[END_TOOL_REQUEST]>>>
<<<[TOOL_REQUEST]>>>
tool_name:「始」ops.status「末」
region:「始」eu-west`;

export function shotsOf(scene: Scene): readonly Shot[] {
  const seen =
    (selector: string) =>
    async (page: Page): Promise<void> => {
      await page.locator(selector).first().waitFor();
    };
  return [
    {
      name: 'tester',
      path: '/ui/tester?tool=calculation.eval&pick=calculation.eval&args=%7B%0A%20%20%22expression%22%3A%20%22%283%2B4%29*6%22%0A%7D&pane=sandbox',
      async ready(page) {
        await page.locator('[data-run]').click();
        await page.locator('[data-result] [data-state="COMPLETED"]').waitFor();
      },
    },
    {
      name: 'form',
      path: '/ui/tester?tool=ops.deploy&pick=ops.deploy&args=%7B%22service%22%3A%22search%22%2C%22schedule%22%3A%7B%22kind%22%3A%22now%22%7D%2C%22labels%22%3A%5B%22blue%22%5D%2C%22replicas%22%3A99%7D&pane=sandbox',
      ready: seen('[data-field="/schedule"]'),
    },
    { name: 'calls', path: '/ui/calls', ready: seen('[data-call]') },
    {
      name: 'calls-search',
      path: '/ui/calls?query=tol:calculation.eval',
      async ready(page) {
        await page.locator('[data-problem]').waitFor();
        await page.locator('[data-page-search]').fill('tool:calculation.* state:failed ');
        await page.locator('[data-page-search]').pressSequentially('co');
        await page.getByRole('option').first().waitFor();
      },
    },
    { name: 'calls-refused', path: '/ui/calls?query=state:refused', ready: seen('[data-refused]') },
    {
      name: 'calls-bulk',
      path: '/ui/calls?query=tool:calculation.eval&sort=ran',
      async ready(page) {
        await page.locator('[data-call] [data-select]').nth(0).click();
        await page
          .locator('[data-call] [data-select]')
          .nth(3)
          .click({ modifiers: ['Shift'] });
        await page.locator('[data-bulk-replay]').click();
        await page.locator('[data-bulk-run]').waitFor();
        await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
      },
    },
    { name: 'call', path: `/ui/calls/${scene.ran}`, ready: seen('[data-stretch]') },
    { name: 'runs', path: '/ui/runs', ready: seen('[data-run] [data-outcome]') },
    {
      name: 'run',
      path: `/ui/runs/${scene.runs[1]}`,
      async ready(page) {
        await page.locator('[data-waterfall] [data-segment="APPROVAL_REQUIRED"]').first().waitFor();
        await page.keyboard.press('j');
        await page.locator('[data-glance] [data-times]').waitFor();
      },
    },
    {
      name: 'compare',
      path: `/ui/compare?a=${scene.runs[0]}&b=${scene.runs[1]}`,
      async ready(page) {
        await page.locator('[data-pair="args"], [data-pair="same"]').first().getByRole('button').click();
        await page.locator('[data-pair-detail]').waitFor();
      },
    },
    { name: 'mcp-call', path: `/ui/calls/${scene.overMcp}`, ready: seen('.facts [data-via]') },
    {
      name: 'mcp-tester',
      path: '/ui/tester?tool=calculation.eval&pick=calculation.eval&args=%7B%0A%20%20%22expression%22%3A%20%22%283%2B4%29*6%22%0A%7D&pane=sandbox&result=mcp',
      async ready(page) {
        await page.locator('[data-run]').click();
        await page.locator('[data-mcp-response] pre').waitFor();
        await page.locator('[data-mcp]').evaluate((view) => view.scrollIntoView());
      },
    },
    {
      name: 'mcp-connect',
      path: '/ui/tools?connect=claude-code',
      async ready(page) {
        await page.locator('[data-config]').waitFor();
        await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
      },
    },
    { name: 'approvals', path: `/ui/approvals?call=${scene.waiting}`, ready: seen('[data-approval-detail]') },
    {
      name: 'parser',
      path: '/ui/tester?pane=parser&tool=calculation.eval',
      async ready(page) {
        await page.locator('[data-reply]').fill(REPLY);
        await page.locator('[data-problem]').first().waitFor();
      },
    },
    { name: 'tools', path: '/ui/tools?tool=ops.deploy', ready: seen('[data-tool-detail] pre') },
    { name: 'devices', path: '/ui/devices', ready: seen('[data-device]') },
    { name: 'agents', path: '/ui/agents', ready: seen('[data-create-key]') },
    { name: 'policy', path: '/ui/agents?view=policy', ready: seen('table') },
    {
      name: 'simulator',
      path: '/ui/agents?view=simulator&tool=ops.deploy&agent=planner',
      ready: seen('[data-explanation]'),
    },
    { name: 'ledger', path: '/ui/ledger', ready: seen('[data-row]') },
    { name: 'metrics', path: '/ui/metrics?since=15m&by=tool', ready: seen('[data-ready="true"] canvas') },
    { name: 'settings', path: '/ui/settings', ready: seen('main kbd') },
    { name: 'login', path: '/ui/login', ready: seen('[data-sign-out]') },
  ];
}
