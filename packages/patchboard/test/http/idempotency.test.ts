import { afterAll, beforeAll, expect, it } from 'vitest';
import { aServer, type TestServer } from './support/a-server.ts';
import { add, echo } from './support/toy-tools.ts';

let server: TestServer;

beforeAll(async () => {
  server = await aServer({ tools: [echo, add] });
});
afterAll(async () => {
  await server.close();
});

function withKey(key: string, more: Record<string, string> = {}): { headers: Record<string, string> } {
  return { headers: { 'idempotency-key': key, ...more } };
}

it('returns one call and one response for 100 parallel posts with one key', async () => {
  const body = { run_id: 'run_i', args: { n: 1 } };
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => server.post('/v1/tools/echo/invoke', body, withKey('k1'))),
  );
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]));
  expect((await server.get('/v1/tool_calls?run_id=run_i')).json.tool_calls).toHaveLength(1);
});

it('does not mind the order of keys, but refuses another body', async () => {
  const first = await server.post(
    '/v1/tools/echo/invoke',
    '{"run_id":"run_o","args":{"a":1,"b":2}}',
    withKey('k2'),
  );
  const again = await server.post(
    '/v1/tools/echo/invoke',
    '{"args":{"b":2,"a":1},"run_id":"run_o"}',
    withKey('k2'),
  );
  expect(again.text).toBe(first.text);
  const other = await server.post(
    '/v1/tools/echo/invoke',
    { run_id: 'run_o', args: { a: 2 } },
    withKey('k2'),
  );
  expect(other.json).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
});

it('does not compare the time limit: a client that tries again sends what is left of its own', async () => {
  const body = { run_id: 'run_t', args: { a: 1 } };
  const first = await server.post('/v1/tools/echo/invoke', { ...body, timeout_ms: 5000 }, withKey('k4'));
  const again = await server.post('/v1/tools/echo/invoke', { ...body, timeout_ms: 1200 }, withKey('k4'));
  expect(again.text).toBe(first.text);
  expect((await server.get('/v1/tool_calls?run_id=run_t')).json.tool_calls).toHaveLength(1);
});

it('is scoped to tenant, agent and tool', async () => {
  const ids = new Set<string>();
  const scopes = [{}, { 'x-agent-id': 'other' }, { 'x-tenant-id': 'other' }];
  for (const [index, scope] of scopes.entries()) {
    const response = await server.post(
      '/v1/tools/echo/invoke',
      { run_id: `run_s${index}` },
      withKey('k3', scope),
    );
    ids.add(response.json.tool_call_id);
  }
  const other = await server.post(
    '/v1/tools/math.add/invoke',
    { run_id: 'run_s', args: { a: 1, b: 1 } },
    withKey('k3'),
  );
  ids.add(other.json.tool_call_id);
  expect(ids.size).toBe(4);
});
