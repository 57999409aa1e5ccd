import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, type HttpResponse, type TestServer } from './support/a-server.ts';

const DEEP = `${'['.repeat(99)}${']'.repeat(99)}`;

let server: TestServer;
beforeAll(async () => {
  server = await aServer({});
});
afterAll(async () => await server.close());

/** A call that its client has fetched. */
async function fetched(name: string): Promise<{ id: string; token: string }> {
  const tools = [{ name, schema: {}, timeout_ms: 3_600_000 }];
  await server.post('/internal/tools/register', { client_id: name, tools });
  const { json } = await server.post(`/v1/tools/${name}/invoke`, { run_id: 'run_x' });
  const { requests } = (await server.get(`/internal/clients/${name}/requests?wait=5`)).json;
  return { id: json.tool_call_id, token: requests[0].attempt_token };
}

const submit = (id: string, body: string): Promise<HttpResponse> =>
  server.post(`/internal/tool_calls/${id}/submit`, body);

async function stateOf(id: string): Promise<Record<string, unknown>> {
  return (await server.get(`/v1/tool_calls/${id}`)).json;
}

describe('a body that cannot be read as a result', () => {
  it.each<[string, (token: string) => string, string]>([
    ['too deep', (token) => `{"status":"SUCCEEDED","result":${DEEP},"attempt_token":"${token}"}`, 'nested'],
    ['broken', (token) => `{"attempt_token":"${token}","status":"SUCCEEDED","result":{]}`, 'acceptable JSON'],
    ['not what the route takes', (token) => `{"status":"DONE","attempt_token":"${token}"}`, 'body/status'],
  ])('ends the call of the attempt at once: %s', async (what, bodyOf, reason) => {
    const { id, token } = await fetched(`ends.${what.replaceAll(' ', '_')}`);
    const detail = expect.stringContaining(reason) as string;
    for (const _time of [1, 2]) {
      const refused = await submit(id, bodyOf(token));
      expect(refused.json).toMatchObject({ status: 400, code: 'body_invalid', detail, state: 'FAILED' });
    }
    expect(await stateOf(id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'result_invalid', message: detail, outcome: 'unknown', retryable: false },
    });
  });

  it.each<[string, (token: string) => string]>([
    ['no token', () => `{"status":"SUCCEEDED","result":${DEEP}}`],
    ['another token', (token) => `{"status":"DONE","attempt_token":"9${token}"}`],
  ])('ends nothing with %s: the client may send another', async (what, bodyOf) => {
    const { id, token } = await fetched(`open.${what.replaceAll(' ', '_')}`);
    expect((await submit(id, bodyOf(token))).json).toMatchObject({ status: 400, code: 'body_invalid' });
    const good = JSON.stringify({ status: 'SUCCEEDED', result: 1, attempt_token: token });
    expect((await submit(id, good)).json).toMatchObject({ ok: true });
  });

  it('ends nothing of another client', async () => {
    const { id, token } = await fetched('foreign.tool');
    const bad = `{"status":"DONE","attempt_token":"${token}"}`;
    const sent = { headers: { 'x-client-id': 'somebody-else' } };
    const refused = await server.post(`/internal/tool_calls/${id}/submit`, bad, sent);
    expect(refused.json).toMatchObject({ status: 400 });
    expect(refused.json.state).toBeUndefined();
    expect(await stateOf(id)).toMatchObject({ status: 'PENDING' });
  });
});
