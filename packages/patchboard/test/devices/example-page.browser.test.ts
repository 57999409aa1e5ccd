import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type PatchboardClient } from '@patchboard/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { aBrowser } from '../guard/support/browser.ts';
import { blocksOf } from '../readme/markdown.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { runCommand, startCommand, type Running } from '../support/run-command.ts';
import { cleanEnvironment, CLI, ROOT, startServer, type ServerProcess } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** What its README says to type, line by line. */
const STEPS = blocksOf(
  readFileSync(join(ROOT, 'examples/browser-device/README.md'), 'utf8').replaceAll(/^ {3}/gm, ''),
).map(({ code }) => code);

/** The words of the step that begins so. */
function stepOf(start: string): string[] {
  const step = STEPS.find((line) => line.startsWith(start));
  if (step === undefined) throw new Error(`the README has no step ${start}`);
  return step.slice(start.length).trim().split(' ');
}

const folder = mkdtempSync(join(tmpdir(), 'patchboard-page-'));
let browser: Browser;
let server: ServerProcess;
let port: number;
let operator: PatchboardClient;
let serving: Running | undefined;

beforeAll(async () => {
  port = await aFixedPort();
  const [flag = '', config = ''] = stepOf('npm start -- ');
  const ours = join(folder, 'patchboard.yaml');
  writeFileSync(ours, readFileSync(join(ROOT, config), 'utf8').replace(':8000', `:${port}`));
  [browser, server] = await Promise.all([aBrowser([]), startServer({}, [flag, ours])]);
  const key = readFileSync(join(server.dataFolder, 'operator.token'), 'utf8').trim();
  operator = createClient({ url: server.url, key });
});
afterEach(async () => {
  await serving?.stop();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The program that serves the page, and the address that it says to open. */
async function servePage(environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = { ...cleanEnvironment(), PATCHBOARD_URL: server.url, ...environment };
  const args = [...stepOf('npx node '), String(port)];
  serving = startCommand(process.execPath, args, { cwd: ROOT, env });
  return /open (\S+)/.exec(await serving.says(/open \S+/))![1]!;
}

async function openPage(address: string): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({
    geolocation: { latitude: 22.5431, longitude: 114.0579 },
    permissions: ['geolocation', 'clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  await page.goto(address);
  return { page, context };
}

const isOnline = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.querySelector('#state')?.textContent === 'online');

async function pageTools(): Promise<string[]> {
  const tools = await operator.tools();
  return tools.filter(({ source }) => source === 'client').map(({ name }) => name);
}

/** What an agent gets that calls a tool of the page, with the yes of an operator. */
async function approvedResult(agent: PatchboardClient, tool: string): Promise<unknown> {
  const { tool_call_id: id } = await agent.invoke(tool, {});
  const { approval } = await operator.get(id);
  await operator.decide(id, { decision: 'allow', digest: approval!.digest });
  return (await agent.wait(id)).result;
}

describe('the page of examples/browser-device', () => {
  it('lends its canvas, its place and its clipboard for as long as it is open', async () => {
    const { page, context } = await openPage(await servePage());
    await isOnline(page);
    expect(await pageTools()).toEqual(['browser.geolocation', 'browser.screenshot', 'clipboard.read']);
    const env = { ...cleanEnvironment(), PATCHBOARD_URL: server.url };
    const args = [CLI, 'call', ...stepOf('npx patchboard call '), '--json'];
    const { out, error } = await runCommand(process.execPath, args, { cwd: folder, env });
    const picture = JSON.parse(out) as { result: { base64: string; width: number } };
    expect(picture.result.width, error).toBe(160);
    expect(Buffer.from(picture.result.base64, 'base64').subarray(1, 4).toString()).toBe('PNG');
    const agent = createClient({ url: server.url, agentId: 'researcher' });
    const place = { latitude: 22.5431, longitude: 114.0579 };
    expect(await approvedResult(agent, 'browser.geolocation')).toMatchObject(place);
    await page.evaluate(() => navigator.clipboard.writeText('from the clipboard'));
    expect(await approvedResult(agent, 'clipboard.read')).toEqual({ text: 'from the clipboard' });
    await context.close();
    await waitFor(async () => expect(await pageTools()).toEqual([]));
  });

  it('of an origin that is not allowed gets no socket', async () => {
    const { page, context } = await openPage((await servePage()).replace('localhost', '127.0.0.1'));
    await page.waitForFunction(() => (document.querySelector('#log')?.textContent ?? '') !== '');
    expect(await pageTools()).toEqual([]);
    await context.close();
  });

  it('connects, and connects again, with tickets that the program behind it gets for its key', async () => {
    const { key } = await operator.keys.create({ kind: 'client', name: 'browser-page' });
    const { page, context } = await openPage(await servePage({ PATCHBOARD_KEY: key }));
    await isOnline(page);
    expect(await pageTools()).toContain('browser.screenshot');
    await page.reload();
    await isOnline(page);
    const foreign = await fetch(`http://localhost:${port}/connection`, { method: 'POST' });
    expect(foreign.status).toBe(404);
    await context.close();
  });
});
