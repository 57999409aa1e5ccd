import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { aDevice } from '../../support/a-device.ts';
import { aConsole, type TestConsole } from './a-console.ts';
import { echo, remove, shapes } from './toys.ts';
import { addUpstreams } from './upstreams.ts';

const FADED_IN = `Promise.all(document.getAnimations()
  .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
  .map((one) => one.finished.catch(() => undefined)))`;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** The calls that the pages show. */
interface Shown {
  readonly ran: string;
  readonly waiting: string;
  /** Waits because the contract of its tool changed. */
  readonly held: string;
}

/** A language, a theme and a width. */
export type Combination = readonly [locale: string, colorScheme: 'light' | 'dark', width: number];

/** Bypasses the Content-Security-Policy: the checker is injected by the driver, not by the page. */
export async function seriousIn(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  // Wait for animations: a dialog that fades in has too little contrast.
  await page.evaluate(FADED_IN);
  const results = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResults;
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

const PLACES: readonly (readonly [name: string, path: (shown: Shown) => string, ready: string])[] = [
  [
    'tester',
    () => '/ui/tester?pane=sandbox&tool=toy.shapes&pick=toy.shapes&args=%7B%22list%22%3A%5B%22a%22%5D%7D',
    '[data-field="/list"]',
  ],
  ['library', () => '/ui/tester?pick=toy.shapes', '[data-library-detail]'],
  ['editor', () => '/ui/tester?pane=sandbox&tool=toy.shapes&view=json', '[data-editor] .cm-content'],
  ['mcp', () => '/ui/tester?pane=sandbox&tool=toy.shapes&result=mcp', '[data-mcp] pre'],
  ['connect', () => '/ui/tools?connect=claude-code', '[data-config]'],
  ['calls', () => '/ui/calls', '[data-call]'],
  ['refused', () => '/ui/calls?query=state:refused', '[data-refused]'],
  ['call', ({ ran }) => `/ui/calls/${ran}`, '[data-stretch]'],
  ['runs', () => '/ui/runs', '[data-run]'],
  ['run', () => '/ui/runs/r', '[data-waterfall] [data-call]'],
  ['trace', () => '/ui/traces/t', '[data-waterfall] [data-call]'],
  ['compared runs', () => '/ui/compare?a=r&b=r', '[data-pair]'],
  ['compared calls', ({ ran, waiting }) => `/ui/compare?a=${ran}&b=${waiting}`, '[data-args] .added'],
  ['approvals', ({ waiting }) => `/ui/approvals?call=${waiting}`, '[data-approval-detail]'],
  ['tools', () => '/ui/tools?tool=toy.shapes', '[data-tool-detail] pre'],
  [
    'resources',
    () => '/ui/resources?resource=template%20patchboard%3A%2F%2Ftools%2F%7Bname%7D',
    '[data-resource-detail] input',
  ],
  ['prompt', () => '/ui/resources?resource=prompt%20tools_as_text', '[data-resource-detail] input'],
  ['devices', () => '/ui/devices', '[data-device]'],
  ['upstreams', () => '/ui/upstreams?upstream=github', '[data-changed] [data-difference]'],
  ['held', ({ held }) => `/ui/approvals?call=${held}`, '[data-held-contract] [data-difference]'],
  ['parser', () => '/ui/tester?pane=parser', '[data-sample]'],
  ['nodes', () => '/ui/nodes', '[data-node]'],
  ['agents', () => '/ui/agents', '[data-create-key]'],
  ['policy', () => '/ui/agents?view=policy', '[data-policy-warnings]'],
  ['simulator', () => '/ui/agents?view=simulator&tool=toy.echo', '[data-explanation]'],
  ['ledger', () => '/ui/ledger', '[data-row]'],
  ['metrics', () => '/ui/metrics?by=tool', '[data-series] a'],
  ['settings', () => '/ui/settings', 'main kbd'],
  ['login', () => '/ui/login', '[data-sign-out]'],
  ['nowhere', () => '/ui/nowhere', 'main h1'],
];

/** Overlays and panels to open. */
const OVERLAYS: readonly (readonly [
  name: string,
  path: (shown: Shown) => string,
  open: (page: Page) => Promise<void>,
  ready: string,
])[] = [
  [
    'palette',
    () => '/ui/settings',
    (page) => page.keyboard.press('Control+k'),
    '[data-palette] [role=option]',
  ],
  [
    'query',
    () => '/ui/calls?query=tol:x',
    async (page) => {
      await page.locator('[data-page-search]').fill('tol:x stat');
    },
    '[data-query-bar] [role=option]',
  ],
  ['grammar', () => '/ui/calls', (page) => page.locator('[data-query-help]').click(), '[data-query-grammar]'],
  [
    'bulk',
    () => '/ui/calls',
    async (page) => {
      await page.locator('[data-select-all]').click();
      await page.locator('[data-bulk-replay]').click();
    },
    '[data-bulk-dialog] [data-bulk-call]',
  ],
  ['keys', () => '/ui/approvals', (page) => page.keyboard.press('?'), '[data-keys] kbd'],
  [
    'first key',
    () => '/ui/agents',
    async (page) => {
      await page.locator('[data-key-name]').fill('first');
      await page.locator('[data-create-key]').click();
    },
    '[data-first-key]',
  ],
  ['drawer', () => '/ui/devices', (page) => page.locator('[data-connect]').click(), '[data-arrival]'],
  ['add', () => '/ui/upstreams', (page) => page.locator('[data-add]').click(), '[data-add-upstream] pre'],
  [
    'code',
    ({ ran }) => `/ui/calls/${ran}`,
    (page) => page.locator('[data-copy-as]').click(),
    '[data-code] pre',
  ],
  [
    'cancel',
    () => '/ui/runs/r',
    (page) => page.locator('[data-cancel-run]').click(),
    '[data-ends] [data-state]',
  ],
  [
    'compare',
    ({ ran }) => `/ui/calls/${ran}`,
    (page) => page.locator('[data-compare]').click(),
    '[data-compare-with] [data-state]',
  ],
  [
    'edit',
    ({ waiting }) => `/ui/approvals?call=${waiting}`,
    (page) => page.locator('[data-edit]').click(),
    '[data-editor] .cm-content',
  ],
  [
    'deny',
    ({ waiting }) => `/ui/approvals?call=${waiting}`,
    (page) => page.locator('[data-deny]').click(),
    '#deny-note',
  ],
];

/** Starts a console for the tests of a file; the function checks every page and overlay of it in one combination. */
export function useAccessibilityCheck(): (combination: Combination) => Promise<void> {
  let board: TestConsole;
  let shown: Shown;
  beforeAll(async () => {
    // A policy with lines without effect, so that warnings are shown.
    const policy = { agents: { guest: { autoDenyTools: ['toy.*'], requireApprovalTools: ['toy.ecoh'] } } };
    board = await aConsole({ tools: [echo, remove, shapes], config: { policy } });
    addUpstreams(board).change();
    await aDevice(board.server.platform.engine, [{ name: 'camera', schema: { type: 'object' } }]);
    // Refused: there is no such tool.
    await invoke(board, 'toy.nothing', {});
    shown = {
      ran: await invoke(board, 'toy.echo', { a: 1 }),
      waiting: await invoke(board, 'toy.remove', { path: '/x' }),
      held: await invoke(board, 'github.search', { words: 'x', token: 'y' }),
    };
  });
  afterAll(async () => {
    await board?.close();
  });
  return (combination) => checkEveryPage(board, shown, combination);
}

async function invoke(board: TestConsole, tool: string, args: unknown): Promise<string> {
  const path = `/v1/tools/${tool}/invoke`;
  const headers = { 'x-trace-id': 't' };
  const response = await board.server.ask({ method: 'POST', path, headers, body: { run_id: 'r', args } });
  return (response.json as { tool_call_id: string }).tool_call_id;
}

async function checkEveryPage(
  board: TestConsole,
  shown: Shown,
  [locale, colorScheme, width]: Combination,
): Promise<void> {
  const { page, done } = await board.open('/', { locale, colorScheme, viewport: { width, height: 844 } });
  for (const [name, path, ready] of PLACES) {
    await page.goto(`${board.url}${path(shown)}`);
    await page.locator(ready).first().waitFor();
    await page.locator('[data-live="live"]').waitFor();
    expect({ name, serious: await seriousIn(page) }).toEqual({ name, serious: [] });
  }
  for (const [name, path, open, ready] of OVERLAYS) {
    await page.goto(`${board.url}${path(shown)}`);
    await page.locator('[data-live="live"]').waitFor();
    await open(page);
    await page.locator(ready).first().waitFor();
    expect({ name, serious: await seriousIn(page) }).toEqual({ name, serious: [] });
  }
  await done();
}
