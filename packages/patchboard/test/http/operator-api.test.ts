import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Guard } from '../../src/core/access/guard.ts';
import { METRICS } from '../../src/transports/shared/http/metrics.ts';
import { aServer, type TestServer } from './support/a-server.ts';
import { echo, failing, gatedTool } from './support/toy-tools.ts';

let server: TestServer;
const gate = gatedTool();
const WAIT = { headers: { prefer: 'wait=10' } };

/** Forbids one tool and hides another. */
const guard: Guard = {
  lists: (_principal, tool) => tool.name !== 'hidden',
  listsName: (_principal, name) => name !== 'hidden',
  revision: 0,
  registers: () => true,
  admit: ({ tool }) => ({
    effect: tool.name === 'fails' ? 'deny' : 'allow',
    rule: 'test',
    reason: 'not today',
    policyVersion: 0,
  }),
};

beforeAll(async () => {
  server = await aServer({
    tools: [echo, failing, { ...echo, name: 'hidden' }, gate.tool],
    guard,
    limits: { openCallsPerTenant: 2 },
  });
});
afterAll(async () => {
  await server.close();
});

describe('what is recorded', () => {
  it('a denied call is 403 with its id, and its record says why', async () => {
    const response = await server.post('/v1/tools/fails/invoke', { run_id: 'run_d' });
    expect(response.json).toMatchObject({ status: 403, code: 'permission_denied', state: 'DENIED' });
    expect(response.json.detail).toMatch(/^permission denied/);
    const record = await server.get(`/v1/tool_calls/${response.json.tool_call_id}`);
    expect(record.json).not.toHaveProperty('node');
    expect(record.json).toMatchObject({
      status: 'FAILED',
      state: 'DENIED',
      error: { code: 'permission_denied' },
    });
  });

  it('a tool that the guard does not list is denied, also where the guard would admit it', async () => {
    expect((await server.get('/v1/tools')).text).not.toContain('hidden');
    expect((await server.get('/v1/tools/hidden')).json).toMatchObject({
      status: 403,
      code: 'permission_denied',
    });
    const response = await server.post('/v1/tools/hidden/invoke', { run_id: 'r' });
    expect(response.json).toMatchObject({ status: 403, code: 'permission_denied', state: 'DENIED' });
  });

  it('too many open calls are 503 with Retry-After, and one ledger row', async () => {
    const first = await server.post('/v1/tools/gated/invoke', { run_id: 'run_q' });
    const second = await server.post('/v1/tools/gated/invoke', { run_id: 'run_q' });
    const third = await server.post('/v1/tools/gated/invoke', { run_id: 'run_q' });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(third.json).toMatchObject({ status: 503, code: 'queue_full', retryable: true });
    expect(third.headers.get('retry-after')).toBe('1');
    expect((await server.get('/v1/ledger?limit=200')).json.rows.at(-1)).toMatchObject({
      kind: 'call.refused',
      body: { code: 'queue_full' },
    });
    gate.open();
    await Promise.all(
      [first, second].map(({ json }) => server.get(`/v1/tool_calls/${json.tool_call_id}`, WAIT)),
    );
  });
});

describe('another tenant', () => {
  it('gets for an id that exists exactly what it gets for one that does not', async () => {
    const made = await server.post('/v1/tools/echo/invoke', { run_id: 'run_v20' }, WAIT);
    const id: string = made.json.tool_call_id;
    const none = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
    const other = { headers: { 'x-tenant-id': 'other' } };
    const same = async (ask: (id: string) => Promise<{ status: number; text: string }>): Promise<void> => {
      const [known, unknown] = [await ask(id), await ask(none)];
      expect(known.status).toBe(unknown.status);
      expect(known.text.replaceAll(id, none)).toBe(unknown.text);
    };
    await same((given) => server.get(`/v1/tool_calls/${given}`, other));
    await same((given) =>
      server.get(`/v1/tool_calls/${given}`, { headers: { ...other.headers, prefer: 'wait=1' } }),
    );
    await same((given) => server.get(`/v1/tool_calls/${given}/events`, other));
    await same((given) => server.post(`/v1/tool_calls/${given}/cancel`, {}, other));
    await same((given) => server.post(`/v1/tool_calls/${given}/replay`, {}, other));
    await same((given) => server.get(`/v1/ledger?tool_call_id=${given}`, other));
    for (const verb of ['ack', 'submit', 'progress']) {
      const body = { ack: {}, submit: { status: 'SUCCEEDED' }, progress: { data: 1 } }[verb];
      await same((given) => server.post(`/internal/tool_calls/${given}/${verb}`, body, other));
    }
    expect((await server.get('/v1/runs/run_v20', other)).text.replaceAll('run_v20', 'run_none')).toBe(
      (await server.get('/v1/runs/run_none', other)).text,
    );
    expect((await server.get('/v1/tool_calls', other)).json.tool_calls).toEqual([]);
  });
});

describe('GET /v1/ledger', () => {
  it('filters by call, trace, tenant and time, and pages', async () => {
    const sent = { headers: { prefer: 'wait=10', 'x-trace-id': 'trace-1' } };
    const { json } = await server.post('/v1/tools/echo/invoke', { run_id: 'run_l' }, sent);
    const rows = async (query: string): Promise<Record<string, unknown>[]> =>
      (await server.get(`/v1/ledger?${query}`)).json.rows;
    const mine = await rows(`tool_call_id=${json.tool_call_id}`);
    expect(mine.map((row) => (row['body'] as { state: string }).state)).toEqual([
      'PENDING',
      'EXECUTING',
      'COMPLETED',
    ]);
    expect(await rows('trace_id=trace-1')).toEqual(mine);
    expect(await rows(`trace_id=trace-1&from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00.000Z`)).toEqual(
      mine,
    );
    expect(await rows('trace_id=trace-1&to=946684800')).toEqual([]);
    expect(await rows('trace_id=trace-1&tenant_id=other')).toEqual([]);
    const first = (await server.get('/v1/ledger?trace_id=trace-1&limit=2')).json;
    const second = (await server.get(`/v1/ledger?trace_id=trace-1&limit=2&cursor=${first.next_cursor}`)).json;
    expect([...first.rows, ...second.rows]).toEqual(mine);
    expect(second.next_cursor).toBeNull();
  });

  it.each(['from=soon', 'to=x', 'cursor=abc', 'after=-1', 'limit=500', 'kind=x'])(
    'refuses ?%s',
    async (query) => {
      expect((await server.get(`/v1/ledger?${query}`)).json).toMatchObject({
        status: 400,
        code: 'body_invalid',
      });
    },
  );
});

describe('health, stats and metrics', () => {
  it('says that it is alive, and how many calls there are', async () => {
    expect((await server.get('/healthz')).json).toMatchObject({ status: 'ok', version: '0.0.0-test' });
    expect((await fetch(`${server.url}/healthz`, { method: 'HEAD' })).status).toBe(200);
    const { json } = await server.get('/v1/stats');
    expect(json).toMatchObject({ open: 0, waiting: 0, executing: 0, tools: 3, streams: 0 });
    expect(json.calls.DENIED).toBe(2);
    expect(json.calls.COMPLETED).toBeGreaterThan(0);
  });

  it('shows every metric it documents, and counts by route and status', async () => {
    await server.get('/v1/tool_calls/tc_none');
    await (await fetch(`${server.url}/v1/ledger/export`)).text();
    const { text, headers } = await server.get('/metrics');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    for (const name of Object.keys(METRICS)) expect(text).toContain(`# HELP ${name} `);
    expect(text).toMatch(
      /patchboard_http_requests_total\{method="POST",route="\/v1\/tools\/:name\/invoke",status="202"\} \d+/,
    );
    expect(text).toMatch(
      /patchboard_http_requests_total\{method="GET",route="\/v1\/ledger\/export",status="200"\} \d+/,
    );
    expect(text).toMatch(/patchboard_refusals_total\{code="call_not_found"\} \d+/);
    expect(text).toMatch(/patchboard_calls_ended_total\{state="COMPLETED",source="server"\} \d+/);
    expect(text).toMatch(/patchboard_call_duration_seconds_bucket\{le="\+Inf",source="server"\} [1-9]/);
    expect(text).toMatch(/patchboard_call_duration_seconds_count\{source="server"\} [1-9]/);
    expect(text).not.toContain('\n\n\n');
  });
});
