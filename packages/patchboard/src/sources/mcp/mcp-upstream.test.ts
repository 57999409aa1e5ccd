import { describe, expect, it } from 'vitest';
import type { RejectedTool } from '@patchboard/wire';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import {
  anMcpUpstream,
  mcpSettings,
  me,
  SECRET,
  valueOf,
} from '../../../test/upstreams/support/an-mcp-upstream.ts';
import { responds, ScriptedConnection } from '../../../test/upstreams/support/scripted-connection.ts';
import { mcpTool } from '../../protocols/mcp/tool-list.ts';
import { SecretMask } from '../shared/secret-mask.ts';
import { McpUpstream } from './mcp-upstream.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';

const SCHEMA = { type: 'object', properties: { q: { type: 'string', maxLength: 9 } } };

function started(settings: Partial<McpUpstreamSettings> = {}) {
  const connection = new ScriptedConnection();
  const released: string[] = [];
  const upstream = new McpUpstream(mcpSettings(settings), {
    connection,
    clock: new FakeClock(),
    mask: new SecretMask([SECRET]),
    instanceId: 'this-instance',
    release: async () => void released.push('released'),
  });
  const seen = { tools: [] as readonly UpstreamTool[], rejected: [] as readonly RejectedTool[], changes: 0 };
  upstream.start({
    listed: (tools, rejected) => Object.assign(seen, { tools, rejected }),
    stateChanged: () => (seen.changes += 1),
  });
  return { connection, upstream, seen, released };
}

describe('a listed tool', () => {
  it('keeps its schemas, its title and its own name, and loses secret values', () => {
    const { connection, seen } = started();
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } } };
    connection.lists([
      {
        name: 'issues/search now',
        title: 'Search',
        description: `Searches with ${SECRET}`,
        inputSchema: SCHEMA,
        outputSchema,
        annotations: { openWorldHint: true },
        _meta: { a: 1 },
      },
    ]);
    expect(seen.rejected).toEqual([]);
    expect(seen.tools).toEqual([
      {
        name: 'github.issues_search_now',
        description: 'Searches with [redacted]',
        inputSchema: SCHEMA,
        outputSchema,
        annotations: { asks_input: true },
        metadata: { upstream: 'github', tool: 'issues/search now', title: 'Search', openWorldHint: true },
        target: { tool: 'issues/search now' },
      },
    ]);
  });

  it.each([
    ['believe', { readOnlyHint: true, idempotentHint: true }, { readonly: true, idempotent: true }],
    ['ignore', { readOnlyHint: true, idempotentHint: true }, {}],
    ['ignore', { destructiveHint: true }, { destructive: true }],
    ['believe', { destructiveHint: false, readOnlyHint: 'yes' }, {}],
    ['believe', { destructiveHint: true, readOnlyHint: true }, { destructive: true }],
    ['believe', null, {}],
  ] as const)('has with hints: %s and %j the annotations %j', (hints, annotations, expected) => {
    const { connection, seen } = started({ hints, inputRequests: false });
    connection.lists([{ name: 'search', inputSchema: SCHEMA, annotations }]);
    expect(seen.tools[0]?.annotations).toEqual(expected);
  });

  it('has its title as description if it has no other', () => {
    const { connection, seen } = started();
    connection.lists([
      { name: 'a', title: 'Does a', inputSchema: SCHEMA },
      { name: 'b', inputSchema: SCHEMA },
    ]);
    expect(seen.tools.map(({ description }) => description)).toEqual(['Does a', '']);
  });

  it('is offered if the patterns select it', () => {
    const { connection, seen } = started({ tools: ['*', '!delete_*'] });
    connection.lists([
      { name: 'search', inputSchema: SCHEMA },
      { name: 'delete_all', inputSchema: SCHEMA },
    ]);
    expect(seen.tools.map(({ name }) => name)).toEqual(['github.search']);
    expect(seen.rejected).toEqual([]);
  });

  it('is rejected without a name, without a schema, or with the name of another', () => {
    const { connection, seen } = started();
    connection.lists(
      [
        { inputSchema: SCHEMA },
        { name: 'flat' },
        { name: 'a b', inputSchema: SCHEMA },
        { name: 'a_b', inputSchema: SCHEMA },
      ],
      7,
    );
    expect(seen.tools.map(({ name }) => name)).toEqual(['github.a_b']);
    expect(seen.rejected.map(({ name, code }) => [name, code])).toEqual([
      ['github.', 'name_invalid'],
      ['github.a_b', 'name_taken'],
      ['github.flat', 'schema_invalid'],
      ['', 'too_large'],
    ]);
    expect(seen.rejected.at(-1)?.reason).toContain('lists 7 more tools than the limit');
  });

  it('that needs tasks is rejected of an older protocol version, whose tasks are not offered', () => {
    const { connection, seen } = started();
    const tool = { name: 'slow', inputSchema: SCHEMA, execution: { taskSupport: 'required' } };
    connection.lists([tool]);
    expect(seen.tools).toHaveLength(1);
    connection.era = 'legacy';
    connection.lists([tool]);
    expect([seen.tools.length, seen.rejected[0]?.code]).toEqual([0, 'schema_invalid']);
  });

  it('that comes from this server is rejected; others keep the servers they pass through, outside the contract', () => {
    const { connection, seen } = started();
    const tool = (name: string, via: unknown) => ({
      name,
      inputSchema: SCHEMA,
      _meta: { 'patchboard/via': via },
    });
    const long = 'i'.repeat(129);
    connection.lists(
      [tool('far', ['c', 1, long, 'b']), tool('mine', ['this-instance', 'b']), tool('odd', 'this-instance')],
      0,
      'up',
    );
    expect(seen.tools.map(({ name, via }) => [name, via])).toEqual([
      ['github.far', ['c', 'b', 'up']],
      ['github.odd', ['up']],
    ]);
    expect(seen.tools[0]).toMatchObject({
      target: { tool: 'far' },
      metadata: { upstream: 'github', tool: 'far' },
    });
    expect(seen.rejected).toMatchObject([
      {
        name: 'github.mine',
        code: 'conflict',
        reason: expect.stringContaining('comes from this server') as string,
      },
    ]);
    connection.lists([{ name: 'plain', inputSchema: SCHEMA }]);
    expect(seen.tools[0]).not.toHaveProperty('via');
  });

  it('shows its own claim about the open world to MCP clients', async () => {
    const { engine } = await anMcpUpstream([], { tool: { annotations: { openWorldHint: false } } });
    const tool = engine.tool(me, 'github.search');
    if (tool === undefined) throw new Error('not registered');
    expect(mcpTool(tool).annotations).toEqual({ openWorldHint: false });
  });

  it('with invalid header annotations is not registered', async () => {
    const inputSchema = { type: 'object', 'x-mcp-header': 'Region' };
    const { engine } = await anMcpUpstream([], { tool: { inputSchema } });
    expect(engine.upstreams.find('github')?.rejected.map(({ name, code }) => [name, code])).toEqual([
      ['github.search', 'schema_invalid'],
    ]);
  });
});

describe('McpUpstream', () => {
  it('reports the state of its connection, its calls and their durations', async () => {
    const { call, upstream, clock, read } = await anMcpUpstream([
      () =>
        new Promise(
          (resolve) => void clock.after(40, () => resolve({ kind: 'result', result: { content: [] } })),
        ),
    ]);
    expect(upstream.status()).toMatchObject({ state: 'connected', inFlight: 0, latencyMs: null });
    const { id } = await call();
    expect(upstream.status()).toMatchObject({ inFlight: 1 });
    await clock.advance(40);
    expect(valueOf(await read(id))).toEqual({ 'patchboard:content': [] });
    expect(upstream.status()).toMatchObject({ inFlight: 0, latencyMs: { median: 40, p95: 40 } });
  });

  it('tells its listener when the state changed, and is online while its connection is', () => {
    const { connection, upstream, seen } = started();
    connection.isOnline = false;
    connection.changesState();
    expect([seen.changes, upstream.isOnline(), upstream.status().state]).toEqual([1, false, 'disconnected']);
  });

  it('releases what it was given after its connection is closed', async () => {
    const { upstream, released } = started();
    await upstream.close();
    expect(released).toEqual(['released']);
  });

  it('passes a result of an outside tool on, whatever it looks like', async () => {
    const { call } = await anMcpUpstream([responds({ content: [], structuredContent: { ok: false } })]);
    await settled();
    expect(valueOf(await call())).toEqual({ ok: false });
  });
});
