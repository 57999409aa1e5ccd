import type { ToolDetailView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { aCall, clientOf, fakeServer, json } from '../test/fake-server.ts';
import { createClient } from './index.ts';

const tool: ToolDetailView = {
  name: 'demo.echo',
  source: 'server',
  description: 'Says it back.',
  schema: { type: 'object' },
  timeout_ms: 5000,
  wire_name: 'demo__echo',
  version: 'abc',
  annotations: { readonly: true },
  output_schema: null,
  metadata: null,
  provider: { kind: 'server', client_id: null, online: true },
};

const run = {
  run_id: 'run_1',
  agent_id: 'local',
  created_at: '2026-01-01T00:00:00.000Z',
  cancelled_at: null,
};

describe('reading', () => {
  it('collects the tools of all pages', async () => {
    const server = await fakeServer((seen, response) =>
      json(response, 200, { tools: [tool], next_cursor: seen.path.includes('cursor') ? null : 'a/b' }),
    );
    expect(await clientOf(server).tools()).toEqual([tool, tool]);
    expect(server.seen.map((seen) => seen.path)).toEqual(['/v1/tools', '/v1/tools?cursor=a%2Fb']);
  });

  it('accepts tools with only the four fields of an older server', async () => {
    const server = await fakeServer((_seen, response) =>
      json(response, 200, { tools: [{ name: 'a', source: 'client', schema: {}, timeout_ms: 1 }] }),
    );
    expect(await clientOf(server).tools()).toMatchObject([{ name: 'a', description: '', annotations: {} }]);
  });

  it('reads one tool by a name that needs escaping', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, tool));
    expect(await clientOf(server).tool('a/b?c')).toEqual(tool);
    expect(server.seen[0]!.path).toBe('/v1/tools/a%2Fb%3Fc');
  });

  it('keeps unknown fields', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, { ...aCall(), new_field: 1 }));
    expect(await clientOf(server).get('tc_1')).toHaveProperty('new_field', 1);
  });

  it('iterates over calls page by page and fetches no page beyond the last one read', async () => {
    const server = await fakeServer((_seen, response, count) =>
      json(response, 200, {
        tool_calls: [aCall({ tool_call_id: `tc_${count}` }), aCall()],
        next_cursor: `c${count}`,
      }),
    );
    const ids: string[] = [];
    for await (const call of clientOf(server).calls({
      toolName: 'demo.echo',
      since: new Date(0),
      limit: 2,
    })) {
      ids.push(call.tool_call_id);
      if (ids.length === 3) break;
    }
    expect(ids).toEqual(['tc_1', 'tc_1', 'tc_2']);
    expect(server.seen.map((seen) => seen.path)).toEqual([
      '/v1/tool_calls?tool_name=demo.echo&since=1970-01-01T00%3A00%3A00.000Z&limit=2',
      '/v1/tool_calls?tool_name=demo.echo&since=1970-01-01T00%3A00%3A00.000Z&limit=2&cursor=c1',
    ]);
  });

  it('fetches a single page', async () => {
    const server = await fakeServer((_seen, response) =>
      json(response, 200, { tool_calls: [], next_cursor: null }),
    );
    expect(await clientOf(server).calls().page('x')).toEqual({ items: [], nextCursor: null });
    expect(server.seen[0]!.path).toBe('/v1/tool_calls?cursor=x');
  });

  it('rejects a page without rows', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, { calls: [] }));
    await expect(clientOf(server).calls().page()).rejects.toThrow('"tool_calls" is not a list');
  });

  it('reads ledger, stats and health', async () => {
    const row = {
      seq: 1,
      at: run.created_at,
      tenant_id: 'default',
      kind: 'call.state',
      tool_call_id: 'tc_1',
      trace_id: null,
      body: { state: 'PENDING' },
      hash: 'ff',
    };
    const server = await fakeServer((seen, response) =>
      json(
        response,
        200,
        seen.path.startsWith('/v1/ledger') ? { rows: [row], next_cursor: null } : { ok: true },
      ),
    );
    const client = clientOf(server);
    expect((await client.ledger({ toolCallId: 'tc_1' }).page()).items).toEqual([row]);
    expect(await client.stats()).toEqual({ ok: true });
    expect(await client.health()).toEqual({ ok: true });
    expect(server.seen.map((seen) => seen.path)).toEqual([
      '/v1/ledger?tool_call_id=tc_1',
      '/v1/stats',
      '/healthz',
    ]);
  });

  it('does not retry a health check', async () => {
    const server = await fakeServer((_seen, response) => void response.destroy());
    await expect(clientOf(server).health()).rejects.toMatchObject({ kind: 'network' });
    expect(server.seen).toHaveLength(1);
  });
});

describe('runs', () => {
  it('creates, reads, lists and cancels', async () => {
    const server = await fakeServer((seen, response) =>
      json(response, 200, seen.method === 'GET' && !seen.path.includes('run_1') ? { runs: [run] } : run),
    );
    const client = clientOf(server);
    expect(await client.runs.create()).toEqual(run);
    expect(await client.runs.get('run_1')).toEqual(run);
    expect(await client.runs.list().page()).toEqual({ items: [run], nextCursor: null });
    await client.runs.cancel('run_1');
    expect(server.seen[0]!.body).toMatchObject({ run_id: expect.stringMatching(/^run_./) as string });
    expect(server.seen[3]).toMatchObject({ method: 'POST', path: '/v1/runs/run_1/cancel' });
  });
});

describe('dry run', () => {
  it('sends dry_run=true', async () => {
    const body = {
      valid: false,
      errors: [{ path: '/a', message: 'must be a number' }],
      decision: { effect: 'ask', rule: 'default', reason: 'destructive', policy_version: 0 },
      route: { source: 'server', client_id: null, online: true },
    };
    const server = await fakeServer((_seen, response) => json(response, 200, body));
    expect(await clientOf(server).dryRun('demo.echo', { a: 'x' })).toEqual(body);
    expect(server.seen[0]!.path).toBe('/v1/tools/demo.echo/invoke?dry_run=true');
  });
});

describe('a response that does not come from Patchboard', () => {
  it('is reported as such, without a JSON parser error', async () => {
    const server = await fakeServer((_seen, response) => {
      response.writeHead(413, { 'content-type': 'text/html; charset=utf-8' });
      response.end(
        '<html><style>b{}</style><h1>Request Entity\nToo Large</h1><script>x</script>nginx</html>',
      );
    });
    await expect(clientOf(server).tools()).rejects.toMatchObject({
      kind: 'bad_response',
      code: 'bad_response',
      status: 413,
      retryable: false,
      message: `GET ${server.url}/v1/tools returned 413, which did not come from Patchboard (text/html): Request Entity Too Large nginx`,
    });
  });

  it('is rejected even if its status is 200', async () => {
    const server = await fakeServer((_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<title>Log in to Wi-Fi</title>');
    });
    await expect(clientOf(server).get('tc_1')).rejects.toThrow('is not JSON (text/html): Log in to Wi-Fi');
  });

  it('is detected by each missing field', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, { ...aCall(), status: 'DONE' }));
    await expect(clientOf(server).get('tc_1')).rejects.toThrow('"status" is not a status');
  });

  it('may be a problem document with malformed details', async () => {
    const body = { code: 'tool_not_found', errors: 'none', recommendations: [1, 'ls'], tool_call_id: 7 };
    const server = await fakeServer((_seen, response) => json(response, 404, body));
    await expect(clientOf(server).tool('x')).rejects.toMatchObject({
      code: 'tool_not_found',
      message: 'tool_not_found',
      issues: [],
      recommendations: ['ls'],
      toolCallId: null,
    });
  });
});

describe('options', () => {
  it('throws for invalid options', () => {
    expect(() => createClient({ url: 'localhost:8080' })).toThrow('not an http(s) URL');
    expect(() => createClient({ url: 'http://x', runId: 'a b' })).toThrow('runId');
    expect(() => createClient({ url: 'http://x', requestTimeoutMs: 0 })).toThrow('requestTimeoutMs');
  });

  it('keeps a path prefix and generates a run id', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, { tools: [] }));
    const one = createClient({ url: `${server.url}/board/` });
    await one.tools();
    expect(server.seen[0]!.path).toBe('/board/v1/tools');
    expect(one.runId).not.toBe(createClient({ url: server.url }).runId);
  });

  it('aborts a request that times out, even if fetch ignores the signal', async () => {
    let tries = 0;
    const fetch = (): Promise<Response> => {
      tries += 1;
      return tries === 1 ? new Promise(() => undefined) : Promise.resolve(Response.json({ tools: [] }));
    };
    const options = { url: 'http://board.test', requestTimeoutMs: 5, retry: { baseDelayMs: 1 } };
    expect(await createClient({ ...options, fetch }).tools()).toEqual([]);
    expect(tries).toBe(2);
  });
});
