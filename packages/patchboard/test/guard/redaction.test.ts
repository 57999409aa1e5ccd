import { sseDecoder } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import type { ServerTool } from '../../src/core/tools/server-tool.ts';
import { aServerTool } from '../support/an-engine.ts';
import { aDataFolder, aPlatform, platformsOfTests, type TestPlatform } from './support/a-platform.ts';
import { open, type TestResponse } from './support/ask.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

const REDACT = { redact: ['password', 'api_key'] };
const SECRET = 'hunter2-planted-secret';

/** Tells what it got, and talks about it while it works. */
function vault(given: Partial<ServerTool> = {}): { tool: ServerTool; got: unknown[] } {
  const got: unknown[] = [];
  const tool = aServerTool({
    name: 'vault.open',
    inputSchema: { type: 'object', properties: { password: { type: 'string' }, n: { type: 'integer' } } },
    execute: (args, context) => {
      got.push(args);
      context.progress({ step: 1, password: SECRET, deep: [{ API_KEY: SECRET }] });
      return Promise.resolve('open');
    },
    ...given,
  });
  return { tool, got };
}

const aServer = platformsOfTests(closeLater, { config: REDACT });

async function invoke(server: TestPlatform, args: unknown, wait = 10): Promise<TestResponse> {
  return await server.ask({
    method: 'POST',
    path: '/v1/tools/vault.open/invoke',
    headers: { prefer: `wait=${wait}` },
    body: { run_id: 'run_1', args },
  });
}

/** Everything that was ever published about these calls. */
async function everythingTold(server: TestPlatform, ids: readonly string[]): Promise<string> {
  const get = async (path: string): Promise<string> => (await server.asOperator('GET', path)).text;
  const events = await open(server.port, { method: 'GET', path: '/v1/events?after=0' });
  const last = ids.at(-1);
  const decode = sseDecoder();
  let published = '';
  reading: for await (const part of events) {
    published += String(part);
    for (const { data } of decode(String(part))) {
      const said = JSON.parse(data ?? 'null') as { tool_call_id?: string; status?: string } | null;
      if (said?.tool_call_id === last && said?.status !== 'pending') break reading;
    }
  }
  const pages = ['/v1/ledger/export', '/v1/tool_calls?limit=200', '/v1/approvals', '/metrics', '/v1/stats'];
  return [published, server.log(), ...(await Promise.all(pages.map(get)))].join('\n');
}

describe('a configured field', () => {
  it('reaches the tool unchanged, and everything else as [redacted]', async () => {
    const { tool, got } = vault();
    const server = await aServer({ tools: [tool] });
    const args = { password: SECRET, nested: [{ Api_Key: SECRET, kept: 'visible' }], n: 1 };
    const live = await open(server.port, { method: 'GET', path: '/v1/events' });
    const record = await invoke(server, args);
    expect(got).toEqual([args]);
    expect(record.json).toMatchObject({
      state: 'COMPLETED',
      args: { password: '[redacted]', nested: [{ Api_Key: '[redacted]', kept: 'visible' }], n: 1 },
    });
    expect(await everythingTold(server, [record.json.tool_call_id])).not.toContain(SECRET);
    let seen = '';
    for await (const part of live) if ((seen += String(part)).includes('"COMPLETED"')) break;
    expect(seen).toContain('"call.progress"'.slice(1, -1));
    expect(seen).not.toContain(SECRET);
  });

  it("is not in the ledger row of an operator's edit", async () => {
    const { tool, got } = vault({ annotations: { destructive: true } });
    const server = await aServer({ tools: [tool] });
    const made = await invoke(server, { password: SECRET, n: 1 }, 0);
    const id = made.json.tool_call_id as string;
    const { approvals } = (await server.asOperator('GET', '/v1/approvals')).json;
    // The operator sees the full arguments.
    expect(approvals[0].args).toEqual({ password: SECRET, n: 1 });
    await server.asOperator('POST', `/v1/tool_calls/${id}/decision`, {
      decision: 'allow',
      digest: approvals[0].digest,
      // The secret is gone from what runs, but not yet from what was asked for.
      args: { n: 2 },
    });
    const record = await server.ask({
      method: 'GET',
      path: `/v1/tool_calls/${id}`,
      headers: { prefer: 'wait=10' },
    });
    expect(got).toEqual([{ n: 2 }]);
    expect(record.json).toMatchObject({
      args: { n: 2 },
      approval: { original_args: { password: '[redacted]', n: 1 } },
    });
    expect(await everythingTold(server, [id])).not.toContain(SECRET);
  });

  it.each<[string, Partial<ServerTool>, unknown]>([
    ['fails', { execute: () => Promise.reject(new Error('no')) }, { password: SECRET }],
    ['is too slow', { timeoutMs: 1, execute: () => new Promise(() => {}) }, { password: SECRET }],
    ['gets arguments that do not fit', {}, { password: [SECRET] }],
    ['gets an argument that is too large a number', {}, { password: SECRET, n: SECRET }],
  ])('is not published when the tool %s', async (_what, given, args) => {
    const { tool } = vault(given);
    const server = await aServer({ tools: [tool] });
    const response = await invoke(server, args);
    expect(response.text).not.toContain(SECRET);
    const ledger = await server.asOperator('GET', '/v1/ledger/export');
    expect([ledger.text, server.log()].join('\n')).not.toContain(SECRET);
  });

  it('is not revealed when the call is denied, cancelled or replayed', async () => {
    const { tool } = vault({ annotations: { destructive: true } });
    const server = await aServer({ tools: [tool] });
    const ids: string[] = [];
    for (const end of ['deny', 'cancel'] as const) {
      const { json } = await invoke(server, { password: SECRET }, 0);
      ids.push(json.tool_call_id);
      const { approvals } = (await server.asOperator('GET', '/v1/approvals')).json;
      if (end === 'deny') {
        const body = { decision: 'deny', digest: approvals[0].digest };
        await server.asOperator('POST', `/v1/tool_calls/${json.tool_call_id}/decision`, body);
      } else {
        await server.ask({ method: 'POST', path: `/v1/tool_calls/${json.tool_call_id}/cancel`, body: {} });
      }
    }
    expect(await everythingTold(server, ids)).not.toContain(SECRET);
    const replay = await server.ask({ method: 'POST', path: `/v1/tool_calls/${ids[0]}/replay`, body: {} });
    expect([replay.status, replay.json.code]).toEqual([409, 'conflict']);
  });

  it('is not revealed when policy denies the call', async () => {
    const { tool } = vault();
    const rules = [{ tools: '*', effect: 'deny', when: [{ arg: '/n', equals: 1 }] }];
    const server = await aServer({ tools: [tool], config: { ...REDACT, policy: { default: { rules } } } });
    const denied = await invoke(server, { password: SECRET, n: 1 });
    expect(denied.status).toBe(403);
    expect(await everythingTold(server, [denied.json.tool_call_id])).not.toContain(SECRET);
  });

  it('is in no byte of the data folder once the calls have ended and the server has stopped', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const { tool, got } = vault();
    const server = await aPlatform({ folder, config: REDACT, tools: [tool] });
    // Small ones share a page, large ones have pages of their own.
    const sizes = Array.from({ length: 60 }, (_, index) => (index % 6 === 0 ? 20_000 : index * 7));
    await Promise.all(
      sizes.map((size, index) =>
        invoke(server, {
          password: `${SECRET}${'x'.repeat(size)}-end-${SECRET}`,
          n: index,
          kept: 'a field like any',
        }),
      ),
    );
    expect(got).toHaveLength(sizes.length);
    await server.close();
    expect(folder.filesWith('a field like any')).not.toEqual([]);
    expect(folder.filesWith(SECRET)).toEqual([]);
  });
});

describe('the log', () => {
  it('has one line per event, whatever is in a name, an argument or a note', async () => {
    const nasty = 'x\n{"event":"forged"}\r\n\u2028\u0085\u001b[31m\u0000';
    const { tool } = vault({ annotations: { destructive: true } });
    const server = await aServer({ tools: [tool] });
    const { json } = await invoke(server, { password: nasty, note: nasty }, 0);
    const { approvals } = (await server.asOperator('GET', '/v1/approvals')).json;
    await server.asOperator('POST', `/v1/tool_calls/${json.tool_call_id}/decision`, {
      decision: 'deny',
      digest: approvals[0].digest,
      note: nasty,
    });
    await server.ask({
      method: 'POST',
      path: `/v1/tools/${encodeURIComponent(nasty)}/invoke`,
      body: { run_id: 'r', args: {} },
    });
    await server.ask({
      method: 'POST',
      path: '/internal/tools/register',
      body: { client_id: 'c', tools: [{ name: nasty, schema: {} }] },
    });
    await server.ask({ method: 'GET', path: `/${encodeURIComponent(nasty)}` });
    await server.ask({ method: 'GET', path: '/v1/tools', headers: { authorization: 'Bearer op_\u00ff' } });
    await server.asOperator('POST', '/v1/keys', { kind: 'agent', name: 'first' });
    const log = server.log();
    expect(log).not.toContain('forged');
    const lines = log.split('\n');
    expect(lines.pop()).toBe('');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('event');
    // oxlint-disable-next-line no-control-regex
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    const rows = (await server.asOperator('GET', '/v1/ledger/export')).text.trimEnd().split('\n');
    for (const row of rows) expect(() => JSON.parse(row) as unknown).not.toThrow();
  });

  it.each(['run_id', 'agent', 'trace'])('takes no line break from a %s', async (where) => {
    const { tool } = vault();
    const server = await aServer({ tools: [tool] });
    const nasty = 'a\tb';
    const response = await server.ask({
      method: 'POST',
      path: '/v1/tools/vault.open/invoke',
      headers: {
        ...(where === 'agent' ? { 'x-agent-id': nasty } : {}),
        ...(where === 'trace' ? { 'x-trace-id': nasty } : {}),
      },
      body: { run_id: where === 'run_id' ? 'a\nb' : 'r', args: {} },
    });
    expect(response.status).toBe(400);
  });
});
