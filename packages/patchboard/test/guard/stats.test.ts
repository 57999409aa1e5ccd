import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/core/access/scopes.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { aServerTool } from '../support/an-engine.ts';
import { openSse } from '../http/support/sse-reader.ts';
import { aDataFolder, aPlatform, type MintedKey, type TestPlatform } from './support/a-platform.ts';
import { deleteTool, echoTool } from './support/scene.ts';

const closeLater = closedAfterEach();
const brokenTool = aServerTool({ name: 'toy.broken', execute: () => Promise.reject(new Error('no')) });
const heldTool = aServerTool({ name: 'toy.held', timeoutMs: 60_000, execute: () => new Promise(() => {}) });
const TOOLS = [echoTool, deleteTool, brokenTool, heldTool];
const CONFIG = { limits: { concurrency_per_run: 1, drain_ms: 1 } };

interface Stats {
  readonly calls: Readonly<Record<string, number>>;
  readonly open: number;
  readonly of_tenant: Readonly<Record<string, number>>;
}

async function invoke(server: TestPlatform, key: MintedKey, tool: string, run: string): Promise<void> {
  const response = await server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers: { ...key.headers, prefer: tool === 'toy.echo' || tool === 'toy.broken' ? 'wait=10' : 'wait=0' },
    body: { run_id: run, args: {} },
  });
  expect(response.status).toBeLessThan(300);
}

async function statsWith(server: TestPlatform, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const { json } = await server.ask({ method: 'GET', path: '/v1/stats', headers });
  const stats = json as Stats & Record<string, number>;
  const { calls, open, waiting, executing, approvals, streams, of_tenant } = stats;
  const there = Object.entries(calls).filter(([, count]) => count !== 0);
  return { calls: Object.fromEntries(there), open, waiting, executing, approvals, streams, of_tenant };
}

const bearer = (server: TestPlatform, tenant?: string): Record<string, string> => ({
  authorization: `Bearer ${server.operatorToken}`,
  ...(tenant === undefined ? {} : { 'x-tenant-id': tenant }),
});

describe('GET /v1/stats', () => {
  it("has a tenant's own counts for its credential, also after a restart, and all for the operator token", async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ folder, tools: TOOLS, config: CONFIG });
    const ours = await first.mint({ kind: 'operator', name: 'a' });
    const theirs = await first.mint({ kind: 'operator', name: 'b', tenant: 'other' });
    for (const tool of ['toy.echo', 'toy.echo', 'toy.broken', 'toy.delete'])
      await invoke(first, ours, tool, 'r');
    for (const tool of ['toy.echo', 'toy.delete', 'toy.delete']) await invoke(first, theirs, tool, 'r');
    for (const tool of ['toy.held', 'toy.held', 'toy.held']) await invoke(first, theirs, tool, 'held');
    const stream = await openSse(`http://127.0.0.1:${first.port}/v1/events`, theirs.headers);

    const mine = {
      calls: { COMPLETED: 2, FAILED: 1, APPROVAL_REQUIRED: 1 },
      open: 1,
      waiting: 0,
      executing: 0,
      approvals: 1,
      streams: 0,
      of_tenant: { open: 1, approvals: 1, devices: 0, changed_tools: 0 },
    };
    const other = {
      calls: { COMPLETED: 1, APPROVAL_REQUIRED: 2, EXECUTING: 1, PENDING: 2 },
      open: 5,
      waiting: 2,
      executing: 1,
      approvals: 2,
      streams: 1,
      of_tenant: { open: 5, approvals: 2, devices: 0, changed_tools: 0 },
    };
    expect(await statsWith(first, ours.headers)).toEqual(mine);
    expect(await statsWith(first, theirs.headers)).toEqual(other);
    expect(await statsWith(first, bearer(first, 'other'))).toEqual(other);
    expect(await statsWith(first, bearer(first, 'empty'))).toMatchObject({ calls: {}, open: 0, streams: 0 });
    expect(await statsWith(first, bearer(first))).toEqual({
      calls: { COMPLETED: 3, FAILED: 1, APPROVAL_REQUIRED: 3, EXECUTING: 1, PENDING: 2 },
      open: 6,
      waiting: 2,
      executing: 1,
      approvals: 3,
      streams: 1,
      // The request is of one tenant, also if it counts all of them.
      of_tenant: mine.of_tenant,
    });
    stream.close();
    await first.close();

    const second = await aPlatform({ folder, tools: [echoTool, deleteTool, brokenTool], config: CONFIG });
    closeLater(() => second.close());
    await invoke(second, ours, 'toy.echo', 'r');
    expect(await statsWith(second, ours.headers)).toMatchObject({
      calls: { COMPLETED: 3, FAILED: 1, APPROVAL_REQUIRED: 1 },
    });
    expect(await statsWith(second, theirs.headers)).toMatchObject({
      calls: { COMPLETED: 1, APPROVAL_REQUIRED: 2, SEALED: 1 },
    });
  });
});

describe('GET /metrics', () => {
  it("is for the operator token and for tenant default, and another tenant's credential gets 403", async () => {
    const server = await aPlatform({ tools: TOOLS });
    closeLater(() => server.close());
    const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await server.ask({ method: 'GET', path: '/metrics', headers })).status;
    expect(await status({})).toBe(200);
    const scopes = [...SCOPES];
    const ours = await server.mint({ kind: 'operator', name: 'a', scopes });
    const theirs = await server.mint({ kind: 'operator', name: 'b', scopes, tenant: 'other' });
    expect(await status(ours.headers)).toBe(200);
    expect(await status(theirs.headers)).toBe(403);
    expect(await status(bearer(server))).toBe(200);
    expect(await status(bearer(server, 'other'))).toBe(200);
  });
});
