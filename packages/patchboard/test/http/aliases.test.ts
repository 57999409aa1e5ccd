import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { aServer, type HttpResponse, type TestServer } from './support/a-server.ts';
import { echo } from './support/toy-tools.ts';

let server: TestServer;
let release: () => void = () => undefined;

beforeAll(async () => {
  const gate = new Promise<void>((resolve) => (release = resolve));
  const gated = aServerTool({
    name: 'gated',
    execute: async () => {
      await gate;
      return 'open';
    },
  });
  const endless = aServerTool({ name: 'endless', execute: () => new Promise(() => {}) });
  server = await aServer({ tools: [echo, gated, endless] });
});
afterAll(async () => {
  await server.close();
});

const limitOf = async ({ json }: HttpResponse): Promise<number | undefined> =>
  (await server.store.findCall((json as { tool_call_id: string }).tool_call_id))?.timeoutMs;

describe('invoke with members that other systems have in the body', () => {
  it('takes idempotency_key as the header', async () => {
    const body = { run_id: 'run_k', args: {}, idempotency_key: 'key-in-body' };
    const first = await server.post('/v1/tools/echo/invoke', body);
    const again = await server.post('/v1/tools/echo/invoke', body);
    const byHeader = await server.post(
      '/v1/tools/echo/invoke',
      { run_id: 'run_k', args: {} },
      { headers: { 'idempotency-key': 'key-in-body' } },
    );
    expect(first.status).toBe(202);
    expect([again.text, byHeader.text]).toEqual([first.text, first.text]);
  });

  it('refuses a key in the body that differs from the header, and takes the same one', async () => {
    const post = (key: string): ReturnType<TestServer['post']> =>
      server.post(
        '/v1/tools/echo/invoke',
        { run_id: 'run_d', args: {}, idempotency_key: key },
        { headers: { 'idempotency-key': 'k-header' } },
      );
    expect(await post('k-other')).toMatchObject({ status: 400, json: { code: 'body_invalid' } });
    expect((await post('k-header')).status).toBe(202);
  });

  it("takes timeout_ms as the caller's own limit, which never lengthens the tool's", async () => {
    const body = { run_id: 'run_t', args: {}, timeout_ms: 50 };
    const headers = { prefer: 'wait=20' };
    const timed = await server.post('/v1/tools/endless/invoke', body, { headers });
    expect(timed.json).toMatchObject({ state: 'TIMED_OUT' });
    expect(await limitOf(timed)).toBe(50);
    const long = await server.post('/v1/tools/echo/invoke', { ...body, timeout_ms: 1e12 }, { headers });
    expect(await limitOf(long)).toBe(echo.timeoutMs);
  });

  it('takes null for what is not set, and refuses what it does not know', async () => {
    const body = { run_id: 'run_n', args: {}, target: null, idempotency_key: null, timeout_ms: null };
    expect((await server.post('/v1/tools/echo/invoke', body)).status).toBe(202);
    expect((await server.post('/v1/tools/echo/invoke', { ...body, timeout: 5 })).status).toBe(400);
    expect((await server.post('/v1/tools/echo/invoke', { ...body, timeout_ms: 0 })).status).toBe(400);
  });
});

describe('aliases', () => {
  it('POST /v1/tool_calls/{id}/wait returns the call when it has ended, or as it is', async () => {
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_w', args: {} });
    const path = `/v1/tool_calls/${json.tool_call_id as string}/wait`;
    expect((await server.post(path, { timeout_ms: 10 })).json).toMatchObject({ status: 'RUNNING' });
    const waiting = server.post(path, {});
    release();
    expect((await waiting).json).toMatchObject({ status: 'SUCCEEDED', result: 'open' });
    expect((await server.post('/v1/tool_calls/tc_unknown/wait', {})).status).toBe(404);
  });

  it('GET /health says what GET /healthz says', async () => {
    const [short, long] = await Promise.all([server.get('/health'), server.get('/healthz')]);
    expect([short.status, Object.keys(short.json as object)]).toEqual([
      200,
      Object.keys(long.json as object),
    ]);
  });
});
