import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { aBrowser } from '../guard/support/browser.ts';
import { ROOT } from '../support/server-process.ts';
import { callId, ended, toolNames } from './support/agent.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const FOLDER = join(ROOT, 'examples/browser-device');

let pages: Server;
let origin: string;
let browser: Browser;
let server: TestPlatform;

beforeAll(async () => {
  const bundle = await build({
    entryPoints: [join(FOLDER, 'page.ts')],
    bundle: true,
    format: 'esm',
    conditions: ['patchboard-source'],
    write: false,
  });
  const html = await readFile(join(FOLDER, 'index.html'), 'utf8');
  pages = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? bundle.outputFiles[0]!.text : html);
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
  [browser, server] = await Promise.all([
    aBrowser([]),
    aPlatform({ config: { http: { allowed_origins: [origin] } } }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  pages.close();
});

async function openPage(from: string): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({
    geolocation: { latitude: 22.5431, longitude: 114.0579 },
    permissions: ['geolocation', 'clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  await page.goto(`${from}/?server=${encodeURIComponent(`http://127.0.0.1:${server.port}`)}`);
  return { page, context };
}

async function approve(id: string): Promise<void> {
  const { json } = await server.asOperator('GET', `/v1/tool_calls/${id}`);
  const { digest } = (json as { approval: { digest: string } }).approval;
  await server.asOperator('POST', `/v1/tool_calls/${id}/decision`, { decision: 'allow', digest });
}

describe('a page in Chromium', () => {
  it('lends its canvas, its place and its clipboard for as long as it is open', async () => {
    const { page, context } = await openPage(origin);
    await page.waitForFunction(() => document.querySelector('#state')?.textContent === 'online');
    expect(await toolNames(server)).toEqual(['browser.geolocation', 'browser.screenshot', 'clipboard.read']);
    const picture = await ended(server, await callId(server, 'browser.screenshot', { args: { scale: 0.5 } }));
    const { base64, width } = picture.result as { base64: string; width: number };
    expect(width).toBe(160);
    expect(Buffer.from(base64, 'base64').subarray(1, 4).toString()).toBe('PNG');
    const where = await callId(server, 'browser.geolocation');
    await approve(where);
    expect((await ended(server, where)).result).toMatchObject({ latitude: 22.5431, longitude: 114.0579 });
    await page.evaluate(() => navigator.clipboard.writeText('from the clipboard'));
    const read = await callId(server, 'clipboard.read');
    await approve(read);
    expect((await ended(server, read)).result).toEqual({ text: 'from the clipboard' });
    await context.close();
    await vi.waitFor(async () => expect(await toolNames(server)).toEqual([]), 20_000);
  });

  it('of an origin that is not allowed gets no socket', async () => {
    const { page, context } = await openPage(origin.replace('localhost', '127.0.0.1'));
    await page.waitForFunction(() => (document.querySelector('#log')?.textContent ?? '') !== '');
    expect(await toolNames(server)).toEqual([]);
    await context.close();
  });
});
