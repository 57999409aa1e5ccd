import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { aServer, type HttpResponse, type Sent, type TestServer } from './support/a-server.ts';
import { openSse } from './support/sse-reader.ts';
import { echo } from './support/toy-tools.ts';

let server: TestServer;

beforeAll(async () => {
  server = await aServer({ tools: [echo] });
});
afterAll(async () => {
  await server.close();
});

const asClient = (id: string): Sent => ({ headers: { 'x-client-id': id } });
const SHOT = {
  name: 'browser.screenshot',
  schema: { type: 'object', required: ['url'] },
  timeout_ms: 30_000,
};

async function lend(clientId: string, name: string, more: object = {}): Promise<void> {
  const tools = [{ name, schema: { type: 'object' }, timeout_ms: 30_000, ...more }];
  const response = await server.post('/internal/tools/register', { client_id: clientId, tools });
  expect(response.json).toEqual({ ok: true, registered_count: 1, rejected: [] });
}

async function invoke(tool: string, args: object = {}): Promise<string> {
  return (await server.post(`/v1/tools/${tool}/invoke`, { run_id: 'run_x', args })).json.tool_call_id;
}

async function submit(id: string, body: object, sent: Sent = {}): Promise<HttpResponse> {
  return await server.post(`/internal/tool_calls/${id}/submit`, body, sent);
}

describe('POST /internal/tools/register', () => {
  it('takes each tool or rejects it by itself, always with 200', async () => {
    await lend('c_other', 'taken.tool');
    const response = await server.post('/internal/tools/register', {
      client_id: 'c_1',
      tools: [
        SHOT,
        null,
        { schema: {} },
        { name: 'bad name', schema: {} },
        { name: 'no.schema' },
        { name: 'odd.schema', schema: { type: 'nonsense' } },
        { name: 'echo', schema: {} },
        { name: 'taken.tool', schema: {} },
        { name: 'slow', schema: {}, timeout_ms: 86_400_001 },
        { name: 'fast', schema: {}, timeout_ms: 0 },
        { name: 'half', schema: {}, timeout_ms: 1.5 },
        { name: 'more', schema: {}, parameters: {} },
        { name: 'risk', schema: {}, annotations: { destructive: 'no' } },
        { name: 'edge', schema: true, timeout_ms: 86_400_000 },
      ],
    });
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({ ok: false, registered_count: 2 });
    const codes = Object.fromEntries(
      response.json.rejected.map(({ name, code }: { name: string; code: string }) => [name, code]),
    );
    expect(codes).toEqual({
      'tools[1]': 'body_invalid',
      'tools[2]': 'name_invalid',
      'bad name': 'name_invalid',
      'no.schema': 'schema_invalid',
      'odd.schema': 'schema_invalid',
      echo: 'name_taken',
      'taken.tool': 'name_taken',
      slow: 'body_invalid',
      fast: 'body_invalid',
      half: 'body_invalid',
      more: 'body_invalid',
      risk: 'body_invalid',
    });
    for (const { reason } of response.json.rejected) expect(reason).not.toBe('');
  });

  it('replaces its own tool, and speaks for no other client', async () => {
    await lend('c_2', 'mine.tool');
    await lend('c_2', 'mine.tool', { description: 'newer' });
    expect((await server.get('/v1/tools/mine.tool')).json).toMatchObject({
      description: 'newer',
      source: 'client',
      provider: { client_id: 'c_2', online: false },
    });
    const body = { client_id: 'c_2', tools: [] };
    expect((await server.post('/internal/tools/register', body, asClient('c_3'))).json.status).toBe(403);
  });

  it.each([
    {},
    { client_id: 'c' },
    { tools: [] },
    { client_id: '', tools: [] },
    { client_id: 'c', tools: {} },
  ])('refuses the body %j', async (body) => {
    expect((await server.post('/internal/tools/register', body)).json).toMatchObject({
      status: 400,
      code: 'body_invalid',
    });
  });

  it('takes tools back, one or all', async () => {
    await lend('c_4', 'back.one');
    await lend('c_4', 'back.two');
    const path = '/internal/clients/c_4/tools';
    expect((await server.delete(`${path}/back.one`)).json).toEqual({ ok: true, removed: ['back.one'] });
    expect((await server.delete(`${path}/back.one`)).json).toMatchObject({
      status: 404,
      code: 'tool_not_found',
    });
    expect((await server.delete(path, asClient('c_5'))).json.status).toBe(403);
    expect((await server.delete(path)).json).toEqual({ ok: true, removed: ['back.two'] });
    expect((await server.get('/v1/tools/back.two')).status).toBe(404);
  });
});

describe('POST /internal/tool_calls/:id/submit', () => {
  it('takes a result once: the same again is 200 and the same body, another is 409', async () => {
    await lend('c_s', 's.tool');
    const id = await invoke('s.tool');
    const body = { status: 'SUCCEEDED', result: { url: 'https://cdn.example/x.png' } };
    const first = await submit(id, body);
    expect(first.text).toBe(`{"ok":true,"tool_call_id":"${id}","status":"SUCCEEDED"}`);
    const again = await submit(id, body);
    expect([again.status, again.text]).toEqual([200, first.text]);
    const other = await submit(id, { status: 'SUCCEEDED', result: 'another' });
    expect(other.json).toMatchObject({ status: 409, code: 'conflict', state: 'COMPLETED' });
    expect((await server.get(`/v1/tool_calls/${id}`)).json.result).toEqual(body.result);
  });

  it('lets one of many racing results win', async () => {
    await lend('c_race', 'race.tool');
    const id = await invoke('race.tool');
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => submit(id, { status: 'SUCCEEDED', result: index })),
    );
    const won = responses
      .map(({ status }, index) => ({ status, index }))
      .filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect((await server.get(`/v1/tool_calls/${id}`)).json.result).toBe(won[0]!.index);
  });

  it.each([
    ['text', 'it broke', 'it broke'],
    ['an object', { message: 'it broke', code: 7, extra: true }, 'it broke'],
    ['nothing', null, 'the client reported a failure'],
  ])('keeps an error that is %s', async (_title, error, message) => {
    await lend('c_e', 'e.tool');
    const id = await invoke('e.tool');
    expect((await submit(id, { status: 'FAILED', error })).json).toMatchObject({
      ok: true,
      status: 'FAILED',
    });
    expect((await server.get(`/v1/tool_calls/${id}`)).json).toMatchObject({
      status: 'FAILED',
      error: { code: 'tool_failed', message },
    });
  });

  it('reports a result that was not stored', async () => {
    await lend('c_o', 'o.tool', { output_schema: { type: 'integer' } });
    const id = await invoke('o.tool');
    const response = await submit(id, { status: 'SUCCEEDED', result: 'text' });
    const message = "the result does not fit the tool's output schema: the result must be integer";
    const error = { code: 'output_invalid', message };
    expect(response.json).toEqual({ ok: false, tool_call_id: id, status: 'FAILED', error });
    expect((await server.get(`/v1/tool_calls/${id}`)).json.error).toMatchObject(error);
  });

  it('is refused for another client, a server tool, an old attempt, and after the end', async () => {
    await lend('c_f', 'f.tool');
    const id = await invoke('f.tool');
    const good = { status: 'SUCCEEDED', result: 1 };
    expect((await submit(id, good, asClient('c_g'))).json).toMatchObject({
      status: 403,
      code: 'permission_denied',
    });
    expect((await submit(id, { ...good, attempt_token: '1.wrong' })).json).toMatchObject({
      status: 409,
      state: 'PENDING',
    });
    const serverCall = await server.post(
      '/v1/tools/echo/invoke',
      { run_id: 'run_x' },
      { headers: { prefer: 'wait=5' } },
    );
    expect((await submit(serverCall.json.tool_call_id, good)).json).toMatchObject({
      status: 409,
      state: 'COMPLETED',
    });
    expect((await submit('tc_none', good)).json).toMatchObject({ status: 404, code: 'call_not_found' });
    await server.post(`/v1/tool_calls/${id}/cancel`);
    expect((await submit(id, good)).json).toMatchObject({ status: 409, state: 'CANCELLED' });
  });

  it.each([{}, { status: 'DONE' }, { status: 'SUCCEEDED', error: 5 }, { status: 'SUCCEEDED', output: 1 }])(
    'refuses the body %j',
    async (body) => {
      expect((await submit('tc_any', body)).json).toMatchObject({ status: 400, code: 'body_invalid' });
    },
  );
});

describe('GET /internal/clients/:client_id/requests', () => {
  it('streams what waits and what comes; an acknowledged one is not sent again', async () => {
    await lend('c_r', 'r.tool');
    const waiting = await invoke('r.tool', { n: 1 });
    const stream = await openSse(`${server.url}/internal/clients/c_r/requests`);
    const first = (await stream.next())!;
    expect(first.event).toBe('tool_request');
    const request = JSON.parse(first.data);
    expect(request).toMatchObject({
      tool_call_id: waiting,
      tool_name: 'r.tool',
      args: { n: 1 },
      timeout_ms: 30_000,
      attempt: 1,
    });
    expect(Object.keys(request).sort()).toEqual(
      ['args', 'attempt', 'attempt_token', 'deadline_at', 'timeout_ms', 'tool_call_id', 'tool_name'].sort(),
    );
    const ack = await server.post(`/internal/tool_calls/${waiting}/ack`, {
      attempt_token: request.attempt_token,
    });
    expect(ack.json).toEqual({ ok: true, tool_call_id: waiting, status: 'RUNNING' });
    expect((await server.post(`/internal/tool_calls/${waiting}/ack`)).json.status).toBe('RUNNING');
    const coming = await invoke('r.tool', { n: 2 });
    expect(JSON.parse((await stream.next())!.data).tool_call_id).toBe(coming);
    expect((await server.get('/v1/tools/r.tool')).json.provider.online).toBe(true);
    await server.post(`/v1/tool_calls/${coming}/cancel`);
    const withdrawn = (await stream.next())!;
    expect([withdrawn.event, JSON.parse(withdrawn.data)]).toEqual([
      'tool_cancel',
      { tool_call_id: coming, reason: 'cancelled' },
    ]);
    stream.close();
    const third = await invoke('r.tool', { n: 3 });
    const again = await openSse(`${server.url}/internal/clients/c_r/requests`);
    expect(JSON.parse((await again.next())!.data).tool_call_id).toBe(third);
    again.close();
  });

  it('streams more than a reader may leave unread, as fast as it is read', async () => {
    await lend('c_much', 'much.tool');
    const ids: string[] = [];
    const pad = 'x'.repeat(200_000);
    for (let n = 0; n < 100; n += 1) ids.push(await invoke('much.tool', { n, pad }));
    const stream = await openSse(`${server.url}/internal/clients/c_much/requests`);
    // What ended or has begun before its turn came is not sent.
    const [begun, cancelled] = ids.splice(-2) as [string, string];
    await server.post(`/v1/tool_calls/${cancelled}/cancel`);
    await server.post(`/internal/tool_calls/${begun}/ack`);
    const last = await invoke('much.tool');
    const seen: string[] = [];
    while (seen.at(-1) !== last) seen.push(JSON.parse((await stream.next())!.data).tool_call_id);
    expect(seen).toEqual([...ids, last]);
    stream.close();
  });

  it('long-polls: at once when something waits, else when it comes', async () => {
    await lend('c_p', 'p.tool');
    expect((await server.get('/internal/clients/c_p/requests?wait=0')).json).toEqual({ requests: [] });
    const asked = server.get('/internal/clients/c_p/requests?wait=60');
    await online('c_p');
    const id = await invoke('p.tool');
    expect((await asked).json.requests).toMatchObject([{ tool_call_id: id }]);
    expect((await server.get('/internal/clients/c_p/requests?wait=60')).json.requests).toHaveLength(1);
    await server.post(`/internal/tool_calls/${id}/ack`);
    expect((await server.get('/internal/clients/c_p/requests?wait=0')).json.requests).toEqual([]);
  });

  it('two polls of one client may get a request, and the acknowledgement lets one of them run it', async () => {
    await lend('c_both', 'both.tool');
    await invoke('both.tool');
    const path = '/internal/clients/c_both/requests?wait=0';
    const [one, two] = await Promise.all([server.get(path), server.get(path)]);
    const [request] = one.json.requests;
    expect(two.json.requests).toEqual([request]);
    const ack = (program_id: string) =>
      server.post(`/internal/tool_calls/${request.tool_call_id}/ack`, {
        attempt_token: request.attempt_token,
        program_id,
      });
    expect((await ack('one')).json).toMatchObject({ ok: true, status: 'RUNNING' });
    expect((await ack('two')).json).toMatchObject({
      status: 409,
      state: 'EXECUTING',
      reasons: [{ code: 'call_runs_in_other_program' }],
    });
    expect((await ack('one')).json).toMatchObject({ ok: true, status: 'RUNNING' });
  });

  it('a request returned by a poll is not sent to another connection as well', async () => {
    await lend('c_two', 'two.tool');
    const stream = await openSse(`${server.url}/internal/clients/c_two/requests`);
    await online('c_two');
    const attached = vi.spyOn(server.engine.clientQueues, 'attach');
    const asked = server.get('/internal/clients/c_two/requests?wait=60');
    while (attached.mock.calls.length === 0) await settled();
    const id = await invoke('two.tool');
    expect((await asked).json.requests).toMatchObject([{ tool_call_id: id }]);
    const next = await invoke('two.tool');
    expect(JSON.parse((await stream.next())!.data).tool_call_id).toBe(next);
    stream.close();
  });

  it('a poll returns an empty list when its time is over', async () => {
    const clock = new FakeClock();
    const quiet = await aServer({ clock });
    const asked = quiet.get('/internal/clients/c_q/requests?wait=7');
    while (!quiet.engine.clientQueues.isOnline('default', 'c_q')) await settled();
    await clock.advance(7000);
    expect((await asked).json).toEqual({ requests: [] });
    await quiet.close();
  });

  it.each(['wait=61', 'wait=-1', 'wait=x', 'hold=1'])('refuses ?%s', async (query) => {
    expect((await server.get(`/internal/clients/c_p/requests?${query}`)).json).toMatchObject({ status: 400 });
  });

  it('is for its own client only', async () => {
    expect((await server.get('/internal/clients/c_p/requests?wait=0', asClient('c_x'))).json.status).toBe(
      403,
    );
  });
});

describe('POST /internal/tool_calls/:id/progress', () => {
  it('reaches the event streams of the call', async () => {
    await lend('c_w', 'w.tool');
    const id = await invoke('w.tool');
    const stream = await openSse(`${server.url}/v1/tool_calls/${id}/events`);
    expect((await stream.next())!.event).toBe('call.state');
    await server.post(`/internal/tool_calls/${id}/progress`, { data: { percent: 50 } });
    const frame = (await stream.next())!;
    expect([frame.id, frame.event]).toEqual([null, 'call.progress']);
    expect(JSON.parse(frame.data)).toMatchObject({ tool_call_id: id, data: { percent: 50 } });
    await submit(id, { status: 'SUCCEEDED', result: 1 });
    expect((await stream.rest()).map(({ data }) => JSON.parse(data).state)).toEqual([
      'EXECUTING',
      'COMPLETED',
    ]);
    expect((await server.post(`/internal/tool_calls/${id}/progress`, { data: 1 })).json.status).toBe(409);
    expect((await server.post(`/internal/tool_calls/${id}/progress`, {})).json.status).toBe(400);
  });
});

async function online(clientId: string): Promise<void> {
  while (!server.engine.clientQueues.isOnline('default', clientId)) await settled();
}
