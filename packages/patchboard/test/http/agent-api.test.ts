import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { aServer, type TestServer } from './support/a-server.ts';
import { add, danger, echo, failing, gatedTool } from './support/toy-tools.ts';

let server: TestServer;
const gate = gatedTool();

beforeAll(async () => {
  server = await aServer({ tools: [echo, add, failing, danger, gate.tool] });
});
afterAll(async () => {
  await server.close();
});

async function ended(path: string, body: unknown): Promise<Awaited<ReturnType<TestServer['post']>>> {
  return await server.post(path, body, { headers: { prefer: 'wait=10' } });
}

describe('GET /v1/tools', () => {
  it('lists name, source, schema and timeout, and returns 304 for the tag it sent', async () => {
    const first = await server.get('/v1/tools');
    expect(first.json.tools.map((tool: { name: string }) => tool.name)).toContain('math.add');
    expect(first.json.tools.find((tool: { name: string }) => tool.name === 'math.add')).toMatchObject({
      source: 'server',
      timeout_ms: 5000,
      wire_name: 'math__add',
      annotations: { readonly: true, idempotent: true },
      schema: { required: ['a', 'b'] },
    });
    const etag = first.headers.get('etag')!;
    const again = await server.get('/v1/tools', { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('has a new tag once a client lends a tool', async () => {
    const before = (await server.get('/v1/tools')).headers.get('etag')!;
    await server.post('/internal/tools/register', {
      client_id: 'c_tag',
      tools: [{ name: 'tag.tool', schema: { type: 'object' } }],
    });
    const after = await server.get('/v1/tools', { headers: { 'if-none-match': before } });
    expect(after.status).toBe(200);
    expect(after.headers.get('etag')).not.toBe(before);
  });

  it('shows one tool whole, by name and by wire name', async () => {
    const byName = await server.get('/v1/tools/math.add');
    const byWireName = await server.get('/v1/tools/math__add');
    expect(byName.json).toMatchObject({
      output_schema: { type: 'integer' },
      provider: { kind: 'server', client_id: null, online: true },
    });
    expect(byWireName.text).toBe(byName.text);
    expect((await server.get('/v1/tools/nope')).json).toMatchObject({
      status: 404,
      detail: 'tool not found: nope',
    });
  });
});

describe('POST /v1/tools/:name/invoke', () => {
  it('returns the documented receipt, and the record follows', async () => {
    const receipt = await server.post('/v1/tools/math.add/invoke', { run_id: 'run_a', args: { a: 1, b: 2 } });
    expect(receipt.status).toBe(202);
    const { tool_call_id: id } = receipt.json;
    expect(receipt.text).toBe(
      `{"tool_call_id":"${id}","status":"pending","message":"tool call created, use tool_call_id to poll result"}`,
    );
    const record = await server.get(`/v1/tool_calls/${id}`, { headers: { prefer: 'wait=10' } });
    expect(record.json).toMatchObject({
      tool_call_id: id,
      run_id: 'run_a',
      tool_name: 'math.add',
      source: 'server',
      status: 'SUCCEEDED',
      state: 'COMPLETED',
      args: { a: 1, b: 2 },
      result: 3,
      error: null,
      agent_id: 'local',
      replay_of: null,
    });
    const tool = await server.get('/v1/tools/math.add');
    expect(record.json.tool_version).toBe(tool.json.version);
    expect(Number.isInteger(record.json.created_at)).toBe(true);
    expect(record.json.created_at).toBeLessThan(10_000_000_000);
    expect(record.json.timeline.map((entry: { state: string }) => entry.state)).toEqual([
      'PENDING',
      'EXECUTING',
      'COMPLETED',
    ]);
  });

  it('shows the trace that the caller named, and no parent for a call that no sub-agent made', async () => {
    const body = { run_id: 'run_a', args: { a: 1, b: 2 } };
    const headers = { 'x-trace-id': 'trace-1', prefer: 'wait=10' };
    const traced = await server.post('/v1/tools/math.add/invoke', body, { headers });
    expect(traced.json).toMatchObject({ status: 'SUCCEEDED', trace_id: 'trace-1' });
    const plain = await ended('/v1/tools/math.add/invoke', body);
    for (const { json } of [traced, plain]) expect(json).not.toHaveProperty('parent_call_id');
    expect(plain.json).not.toHaveProperty('trace_id');
  });

  it('waits for the result when asked to, and says so', async () => {
    const response = await ended('/v1/tools/math__add/invoke', { run_id: 'run_a', args: { a: 2, b: 2 } });
    expect(response.status).toBe(200);
    expect(response.headers.get('preference-applied')).toBe('wait=10');
    expect(response.json).toMatchObject({ status: 'SUCCEEDED', result: 4, tool_name: 'math.add' });
  });

  it('gives an absent args as an empty object, and keeps any other JSON as it is', async () => {
    expect((await ended('/v1/tools/echo/invoke', { run_id: 'run_a' })).json.args).toEqual({});
    const odd = { ключ: ['\u2028', 1.5, null, { a: [] }] };
    expect((await ended('/v1/tools/echo/invoke', { run_id: 'run_a', args: odd })).json).toMatchObject({
      args: odd,
      result: { echo: odd },
    });
  });

  it('returns a failed tool as a record, not as an HTTP error', async () => {
    const response = await ended('/v1/tools/fails/invoke', { run_id: 'run_a' });
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({
      status: 'FAILED',
      error: { code: 'tool_failed', message: 'it broke' },
    });
  });

  it('returns the receipt for a wait that is not over in time', async () => {
    const clock = new FakeClock();
    const slow = gatedTool();
    const waiting = await aServer({ tools: [slow.tool], clock });
    const sent = { headers: { prefer: 'respond-async, wait=5' } };
    const asked = waiting.post('/v1/tools/gated/invoke', { run_id: 'run_w' }, sent);
    await slow.begun();
    await settled();
    await clock.advance(5000);
    const response = await asked;
    expect(response.status).toBe(202);
    expect(response.headers.get('preference-applied')).toBeNull();
    slow.open();
    await waiting.close();
  });

  it('says what would happen and records nothing', async () => {
    const before = await server.store.ledgerHead();
    const good = await server.post('/v1/tools/danger/invoke?dry_run=true', { run_id: 'run_a' });
    const bad = await server.post('/v1/tools/math.add/invoke?dry_run=true', {
      run_id: 'run_a',
      args: { a: 'x' },
    });
    expect(good.json).toMatchObject({
      valid: true,
      errors: [],
      decision: { effect: 'ask' },
      route: { source: 'server' },
    });
    expect(bad.json.valid).toBe(false);
    expect(bad.json.errors.length).toBeGreaterThan(0);
    expect((await server.store.ledgerHead()).seq).toBe(before.seq);
  });

  it('keeps the trace id of X-Trace-ID, else of traceparent', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const parent = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    await server.post('/v1/tools/echo/invoke', { run_id: 'run_t' }, { headers: parent });
    await server.post(
      '/v1/tools/echo/invoke',
      { run_id: 'run_t' },
      { headers: { ...parent, 'x-trace-id': 'mine' } },
    );
    expect((await server.get(`/v1/ledger?trace_id=${trace}`)).json.rows.length).toBeGreaterThan(0);
    expect((await server.get('/v1/ledger?trace_id=mine')).json.rows[0]).toMatchObject({ trace_id: 'mine' });
  });

  it('a run belongs to its agent', async () => {
    await server.post('/v1/tools/echo/invoke', { run_id: 'run_owned' }, { headers: { 'x-agent-id': 'a1' } });
    const other = await server.post(
      '/v1/tools/echo/invoke',
      { run_id: 'run_owned' },
      { headers: { 'x-agent-id': 'a2' } },
    );
    const record = await server.get(`/v1/tool_calls/${other.json.tool_call_id}`);
    expect(record.json).toMatchObject({
      agent_id: 'a2',
      run_id: expect.stringMatching(/^run_owned\.[0-9a-f]{8}$/) as string,
    });
  });
});

describe('GET /v1/tool_calls/:id', () => {
  it('releases the waiter when the client disconnects', async () => {
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_hang' });
    const stop = new AbortController();
    const sent = { headers: { prefer: 'wait=60' }, signal: stop.signal };
    const asked = server.get(`/v1/tool_calls/${json.tool_call_id}`, sent);
    await gate.begun();
    stop.abort();
    await expect(asked).rejects.toThrow();
    gate.open();
    const record = await server.get(`/v1/tool_calls/${json.tool_call_id}`, {
      headers: { prefer: 'wait=10' },
    });
    expect(record.json.status).toBe('SUCCEEDED');
  });

  it('returns an open call at once without a preference', async () => {
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_open' });
    await gate.begun();
    const record = await server.get(`/v1/tool_calls/${json.tool_call_id}`);
    expect(record.json).toMatchObject({
      status: 'RUNNING',
      result: null,
      completed_at: null,
      duration_ms: null,
    });
    expect(record.json.attempts).toMatchObject([{ attempt: 1, ended_at: null, code: null }]);
    gate.open();
  });

  it('returns 404 for an unknown id', async () => {
    expect((await server.get('/v1/tool_calls/tc_nope')).json).toMatchObject({
      status: 404,
      code: 'call_not_found',
      detail: 'no such call: tc_nope',
    });
  });
});

describe('cancel and replay', () => {
  it('cancels a call once; the second time returns its state', async () => {
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_c' });
    const path = `/v1/tool_calls/${json.tool_call_id}/cancel`;
    const first = await server.post(path);
    expect([first.status, first.json.state, first.json.error.code]).toEqual([200, 'CANCELLED', 'cancelled']);
    const second = await server.post(path, {});
    expect(second.json).toMatchObject({ status: 409, code: 'conflict', state: 'CANCELLED' });
  });

  it('replays with the same or other arguments, linked to the old call', async () => {
    const old = await ended('/v1/tools/math.add/invoke', { run_id: 'run_r', args: { a: 1, b: 1 } });
    const path = `/v1/tool_calls/${old.json.tool_call_id}/replay`;
    const same = await server.post(path);
    expect(same.status).toBe(202);
    const record = await server.get(`/v1/tool_calls/${same.json.tool_call_id}`, {
      headers: { prefer: 'wait=10' },
    });
    expect(record.json).toMatchObject({ replay_of: old.json.tool_call_id, run_id: 'run_r', result: 2 });
    expect((await ended(path, { args: { a: 5, b: 5 } })).json.result).toBe(10);
    expect((await server.post(path, { args: { a: 'x' } })).status).toBe(422);
    expect((await server.post('/v1/tool_calls/tc_nope/replay')).status).toBe(404);
  });
});

describe('GET /v1/tool_calls', () => {
  it('filters, pages newest first, and comes to an end', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { json } = await ended('/v1/tools/echo/invoke', { run_id: 'run_list', args: { index } });
      made.unshift(json.tool_call_id);
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await server.get(`/v1/tool_calls?run_id=run_list&limit=2${cursor}`);
      seen.push(...page.json.tool_calls.map((call: { tool_call_id: string }) => call.tool_call_id));
      cursor = page.json.next_cursor === null ? '' : `&cursor=${page.json.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(made);
    const count = async (query: string): Promise<number> =>
      (await server.get(`/v1/tool_calls?run_id=run_list&${query}`)).json.tool_calls.length;
    expect(await count('status=SUCCEEDED')).toBe(5);
    expect(await count('state=COMPLETED&status=SUCCEEDED')).toBe(5);
    expect(await count('state=FAILED&status=SUCCEEDED')).toBe(0);
    expect(await count('agent_id=nobody')).toBe(0);
    expect(await count('tool_name=echo&since=2020-01-01T00:00:00Z')).toBe(5);
    expect(await count('since=99999999999')).toBe(0);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'limit=1&limit=2',
    'cursor=nonsense',
    'status=DONE',
    'state=done',
    'since=yesterday',
    'colour=red',
  ])('refuses ?%s', async (query) => {
    const response = await server.get(`/v1/tool_calls?${query}`);
    expect(response.json).toMatchObject({ status: 400, code: 'body_invalid' });
  });
});

describe('runs', () => {
  it('binds a run to its agent, once', async () => {
    const asAgent = { headers: { 'x-agent-id': 'runner' } };
    const made = await server.post('/v1/runs', { run_id: 'run_mine' }, asAgent);
    expect(made.json).toMatchObject({ run_id: 'run_mine', agent_id: 'runner', cancelled_at: null });
    expect((await server.post('/v1/runs', { run_id: 'run_mine' }, asAgent)).text).toBe(made.text);
    const others = await server.post('/v1/runs', { run_id: 'run_mine' });
    expect(others.json.run_id).toMatch(/^run_mine\.[0-9a-f]{8}$/);
    expect((await server.post('/v1/runs')).json.run_id).toMatch(/^run_/);
    const list = await server.get('/v1/runs?agent_id=runner');
    expect(list.json.runs).toHaveLength(1);
    expect((await server.get('/v1/runs?cursor=bad')).status).toBe(400);
  });

  it('shows its calls and ends them all', async () => {
    const first = await server.post('/v1/tools/gated/invoke', { run_id: 'run_end' });
    const second = await server.post('/v1/tools/gated/invoke', { run_id: 'run_end' });
    const ids = [first.json.tool_call_id, second.json.tool_call_id];
    const shown = await server.get('/v1/runs/run_end');
    expect(shown.json.tool_calls.map((call: { tool_call_id: string }) => call.tool_call_id)).toEqual(
      [...ids].reverse(),
    );
    const cancelled = await server.post('/v1/runs/run_end/cancel', {});
    expect(cancelled.json.cancelled.sort()).toEqual(ids);
    expect((await server.get('/v1/runs/run_end')).json.cancelled_at).not.toBeNull();
    expect((await server.post('/v1/tools/echo/invoke', { run_id: 'run_end' })).json).toMatchObject({
      status: 409,
    });
    expect((await server.get('/v1/runs/run_none')).json).toMatchObject({
      status: 404,
      code: 'run_not_found',
    });
    expect((await server.post('/v1/runs/run_none/cancel')).status).toBe(404);
  });
});
