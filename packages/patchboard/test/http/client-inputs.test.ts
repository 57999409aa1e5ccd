import { createClient, PatchboardError } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, type HttpResponse, type TestServer } from './support/a-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await aServer({ tools: [] });
});
afterAll(async () => {
  await server.close();
});

const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;

interface Asking {
  readonly id: string;
  readonly ask: (body?: object, headers?: Record<string, string>) => Promise<HttpResponse>;
}

/** A client that has received a call of its tool. */
async function working(clientId: string, headers: Record<string, string> = {}): Promise<Asking> {
  const tools = [{ name: `${clientId}.tool`, schema: { type: 'object' }, timeout_ms: 30_000 }];
  await server.post('/internal/tools/register', { client_id: clientId, tools });
  const invoked = await server.post(
    `/v1/tools/${clientId}.tool/invoke`,
    { run_id: 'r', args: {} },
    { headers },
  );
  const id = String(invoked.json.tool_call_id);
  const { json } = await server.get(`/internal/clients/${clientId}/requests?wait=0`);
  const { attempt_token } = json.requests[0] as { attempt_token: string };
  return {
    id,
    ask: async (body = {}, more = {}) =>
      await server.post(
        `/internal/tool_calls/${id}/input_request`,
        { key: 'city', ...CITY, attempt_token, ...body },
        { headers: more },
      ),
  };
}

describe('POST /internal/tool_calls/:id/input_request', () => {
  it('asks the caller once, and returns the response to those who wait and to those who come later', async () => {
    const { id, ask } = await working('c_ask');
    const first = await ask();
    expect(first.status).toBe(202);
    expect(first.json).toEqual({
      tool_call_id: id,
      input_request_id: 'in_1',
      expires_at: expect.any(String) as string,
    });
    const record = await server.get(`/v1/tool_calls/${id}`);
    expect(record.json).toMatchObject({ state: 'INPUT_REQUIRED', input_request: { id: 'in_1', ...CITY } });
    const waiting = ask({}, { prefer: 'wait=30' });
    await server.post(`/v1/tool_calls/${id}/input`, { id: 'in_1', content: { city: 'Paris' } });
    for (const response of [await waiting, await ask()]) {
      expect(response.status).toBe(200);
      expect(response.json).toEqual({
        tool_call_id: id,
        input_request_id: 'in_1',
        action: 'accept',
        content: { city: 'Paris' },
        deadline_at: expect.any(String) as string,
      });
    }
    const more = await server.get(`/internal/clients/c_ask/requests?wait=0`);
    expect(more.json).toEqual({ requests: [] });
  });

  it('returns 202 when the wait is over, and 409 when the call has ended', async () => {
    const { id, ask } = await working('c_slow');
    expect((await ask({}, { prefer: 'wait=1' })).status).toBe(202);
    const waiting = ask({}, { prefer: 'wait=30' });
    await server.post(`/v1/tool_calls/${id}/cancel`, {});
    expect((await waiting).status).toBe(409);
    const late = await ask();
    expect(late.status).toBe(409);
    expect(late.json).toMatchObject({ code: 'conflict', state: 'CANCELLED' });
  });

  it('begins a call that is not acknowledged: its program may acknowledge it later, another one may not', async () => {
    const { id, ask } = await working('c_early');
    expect((await ask({ program_id: 'one' })).status).toBe(202);
    const ack = (program_id: string) => server.post(`/internal/tool_calls/${id}/ack`, { program_id });
    expect((await ack('two')).json).toMatchObject({
      status: 409,
      reasons: [{ code: 'call_runs_in_other_program' }],
    });
    expect((await ack('one')).json).toMatchObject({ ok: true });
    await server.post(`/v1/tool_calls/${id}/input`, { id: 'in_1', content: { city: 'Paris' } });
    expect((await ack('two')).status).toBe(409);
    expect((await ack('one')).json).toMatchObject({ ok: true, status: 'RUNNING' });
  });

  it('refuses what cannot be asked', async () => {
    const { id, ask } = await working('c_bad', { prefer: 'input=none' });
    const refused = async (body: object): Promise<[number, string]> => {
      const { status, json } = await ask(body);
      return [status, String(json.code)];
    };
    expect(await refused({})).toEqual([409, 'input_unavailable']);
    expect(await refused({ attempt_token: '9.stale' })).toEqual([409, 'conflict']);
    expect(await refused({ attempt_token: undefined })).toEqual([400, 'body_invalid']);
    expect(await refused({ key: 'two words' })).toEqual([400, 'body_invalid']);
    expect(await refused({ message: 5 })).toEqual([400, 'body_invalid']);
    const able = await working('c_able');
    expect((await able.ask({ schema: { type: 'nonsense' } })).json).toMatchObject({ code: 'body_invalid' });
    expect((await able.ask({ url: 'https://example.test/' })).json).toMatchObject({ code: 'body_invalid' });
    const foreign = await able.ask({}, { 'x-client-id': 'c_bad' });
    expect([foreign.status, foreign.json.code]).toEqual([403, 'permission_denied']);
    expect((await server.get(`/v1/tool_calls/${id}`)).json).not.toHaveProperty('inputs');
  });
});

describe('provider.requestInput of the SDK', () => {
  it('may come before the acknowledgement of the same provider', async () => {
    const client = createClient({ url: server.url });
    const provider = client.provider('c_first');
    await provider.register([{ name: 'first.ask', schema: { type: 'object' } }]);
    const { tool_call_id: id } = await client.invoke('first.ask', {});
    const requests = provider.requests();
    const { value } = await requests.next();
    const { attempt_token: attemptToken } = value as { readonly attempt_token: string };
    const asked = provider.requestInput(id, CITY, { attemptToken });
    await expect.poll(async () => (await client.get(id)).input_request?.id).toBe('in_1');
    await client.respondInput(id, { id: 'in_1', content: { city: 'Paris' } });
    expect(await asked).toEqual({ city: 'Paris' });
    await provider.ack(id, { attemptToken });
    await requests.return?.();
  });

  it('waits for the response, and rejects when the caller declines or cannot be asked', async () => {
    const client = createClient({ url: server.url });
    const provider = client.provider('c_sdk');
    await provider.register([{ name: 'trip.book', schema: { type: 'object' } }]);
    const stop = new AbortController();
    const work = (async () => {
      for await (const { tool_call_id: id, attempt_token: attemptToken } of provider.requests(stop)) {
        await provider.ack(id, { attemptToken });
        try {
          const result = await provider.requestInput(id, CITY, { attemptToken });
          await provider.submit(id, { status: 'SUCCEEDED', result }, { attemptToken });
        } catch (thrown) {
          if (!(thrown instanceof PatchboardError)) throw thrown;
          const error = { code: thrown.code as 'input_declined', message: thrown.message };
          await provider.submit(id, { status: 'FAILED', error }, { attemptToken });
        }
      }
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    const answered = await client.call('trip.book', {}, { onInputRequest: () => ({ city: 'Oslo' }) });
    expect(answered.result).toEqual({ city: 'Oslo' });
    const receipt = await client.invoke('trip.book', {});
    await expect.poll(async () => (await client.get(receipt.tool_call_id)).input_request?.id).toBe('in_1');
    await server.post(`/v1/tool_calls/${receipt.tool_call_id}/input`, { id: 'in_1', action: 'decline' });
    expect((await client.wait(receipt.tool_call_id)).error).toMatchObject({ code: 'input_declined' });
    const silent = await client.call('trip.book', {}, { throwOnFailure: false });
    expect(silent.error).toMatchObject({ code: 'input_unavailable' });
    stop.abort();
    await work;
  });
});
