import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDevice } from '../support/a-device.ts';
import { aServerTool } from '../support/an-engine.ts';
import { AnUpstream, anUpstreamTool } from '../support/an-upstream.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';

/** As long as the server accepts, without a place to break. */
const WORD = 'n'.repeat(200);
const TOOL = `toy.${WORD}`.slice(0, 128);
const RISKY = `risky.${WORD}`.slice(0, 128);
const UPSTREAM = `up${WORD}`.slice(0, 60);
const AGENT = `agent${WORD}`.slice(0, 200);
const RUN = `run${WORD}`.slice(0, 200);
const TRACE = `trace${WORD}`.slice(0, 200);
const SCHEMA = {
  type: 'object',
  properties: { [WORD]: { type: 'string', title: WORD, description: WORD } },
};

const tools = [
  aServerTool({
    name: TOOL,
    description: WORD,
    inputSchema: SCHEMA,
    execute: () => Promise.resolve({ [WORD]: WORD }),
  }),
  aServerTool({
    name: RISKY,
    description: WORD,
    annotations: { destructive: true },
    inputSchema: SCHEMA,
  }),
];

let board: TestConsole;
let ran: string;
let waiting: string;
beforeAll(async () => {
  const policy = { agents: { [AGENT]: { rules: [{ tools: [RISKY], effect: 'ask', reason: WORD }] } } };
  board = await aConsole({ tools, config: { policy } });
  const { engine } = board.server.platform;
  await aDevice(
    engine,
    [{ name: `device.${WORD}`.slice(0, 128), schema: SCHEMA }],
    `phone${WORD}`.slice(0, 200),
  );
  const upstream = new AnUpstream({ name: UPSTREAM });
  upstream.details = { server: { name: WORD, version: WORD }, address: `https://${WORD}.example` };
  engine.upstreams.add(upstream);
  const listed = anUpstreamTool({ name: `${UPSTREAM}.${WORD}`.slice(0, 128) });
  upstream.lists([listed]);
  upstream.lists([{ ...listed, description: WORD, inputSchema: SCHEMA }]);
  upstream.becomes('failed', WORD);
  ran = await invoke(TOOL, RUN);
  await invoke(TOOL, `${RUN.slice(0, 199)}b`);
  waiting = await invoke(RISKY, RUN);
});
afterAll(async () => {
  await board?.close();
});

async function invoke(tool: string, run: string): Promise<string> {
  const response = await board.server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers: { 'x-agent-id': AGENT, 'x-trace-id': TRACE },
    body: { run_id: run, args: { [WORD]: WORD } },
  });
  expect(response.status).toBe(202);
  return (response.json as { tool_call_id: string }).tool_call_id;
}

function places(): readonly (readonly [path: string, ready: string])[] {
  return [
    ['tester', '[data-tool]'],
    [`tester?pane=sandbox&tool=${TOOL}&pick=${TOOL}`, '[data-editor], [data-field]'],
    ['calls', '[data-call]'],
    [`calls?query=${encodeURIComponent(`tool:${TOOL} agent:${AGENT}`)}`, '[data-call]'],
    [`calls/${ran}`, '[data-stretch]'],
    ['runs', '[data-run]'],
    [`runs/${RUN}`, '[data-waterfall] [data-call]'],
    [`traces/${TRACE}`, '[data-waterfall] [data-call]'],
    [`compare?a=${RUN}&b=${RUN.slice(0, 199)}b`, '[data-pair]'],
    [`compare?a=${ran}&b=${waiting}`, '[data-call-comparison]'],
    [`approvals?call=${waiting}`, '[data-approval-detail]'],
    [`tools?tool=${TOOL}`, '[data-tool-detail] pre'],
    ['resources', '[data-resource]'],
    ['devices', '[data-device]'],
    [`upstreams?upstream=${UPSTREAM}`, '[data-changed] [data-difference]'],
    ['nodes', '[data-node]'],
    ['agents', '[data-create-key]'],
    ['agents?view=policy', '[data-policy-warnings], main table'],
    [`agents?view=simulator&tool=${TOOL}&agent=${AGENT}`, '[data-explanation]'],
    ['ledger', '[data-row]'],
    [`ledger?trace=${TRACE}`, 'main h1'],
    ['metrics?by=tool', '[data-series]'],
    ['metrics?by=agent', '[data-series]'],
    ['settings', 'main kbd'],
  ];
}

/** Elements that are wider than the window and are not inside one that scrolls or clips. */
async function spilledIn(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const isClipped = (element: Element | null): boolean =>
      element !== null &&
      element !== document.body &&
      (getComputedStyle(element).overflowX !== 'visible' || isClipped(element.parentElement));
    return [...document.querySelectorAll('main *')]
      .filter((one) => one.getBoundingClientRect().right > width + 1 && !isClipped(one.parentElement))
      .map((one) => `${one.tagName} ${one.className.toString()}`);
  });
}

describe('names as long as they may be', () => {
  it.each([
    ['en', 390],
    ['zh-CN', 390],
    ['en', 1280],
  ] as const)('fit every page: %s, %i wide', { timeout: 240_000 }, async (locale, width) => {
    const { page, done } = await board.open('/', { locale, viewport: { width, height: 844 } });
    for (const [path, ready] of places()) {
      await page.goto(`${board.url}/ui/${path}`);
      await page.locator(ready).first().waitFor({ state: 'attached' });
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
      expect({ path, scrollWidth, spilled: await spilledIn(page) }).toEqual({
        path,
        scrollWidth: width,
        spilled: [],
      });
    }
    await done();
  });
});
