import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputRequired } from '../../src/core/call/input.ts';
import { aServerTool } from '../support/an-engine.ts';
import { aServer, type HttpResponse, type TestServer } from './support/a-server.ts';
import { openSse } from './support/sse-reader.ts';

const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;
const WAIT = { headers: { prefer: 'wait=10' } };
const NO_INPUT = { headers: { prefer: 'wait=10, input=none' } };

let server: TestServer;

beforeAll(async () => {
  server = await aServer({
    tools: [
      aServerTool({
        name: 'ask',
        annotations: { asks_input: true },
        execute: async (_args, context) => ({ given: await context.requestInput(CITY) }),
      }),
      aServerTool({
        name: 'ask.returned',
        execute: (_args, { inputs }) => inputs['city'] ?? new InputRequired({ city: CITY }),
      }),
      aServerTool({
        name: 'ask.link',
        execute: (_args, { requestInput }) => requestInput({ message: 'Sign in', url: 'https://id.test/' }),
      }),
    ],
  });
});
afterAll(async () => {
  await server.close();
});

async function invoke(tool: string, sent = WAIT): Promise<HttpResponse> {
  return await server.post(`/v1/tools/${tool}/invoke`, { run_id: 'run_1' }, sent);
}

async function give(id: string, body: unknown): Promise<HttpResponse> {
  return await server.post(`/v1/tool_calls/${id}/input`, body);
}

describe('a tool that asks its caller over HTTP', () => {
  it('returns 202 with the request to a caller that waits, and the result after the response', async () => {
    for (const tool of ['ask', 'ask.returned']) {
      const asked = await invoke(tool);
      expect(asked.status).toBe(202);
      expect(asked.json).toMatchObject({
        status: 'pending',
        state: 'INPUT_REQUIRED',
        input_request: { id: 'in_1', message: 'Which city?', schema: CITY.schema },
      });
      const { tool_call_id: id, input_request: request } = asked.json;
      const record = await server.get(`/v1/tool_calls/${id}`);
      expect(record.json).toMatchObject({
        status: 'RUNNING',
        state: 'INPUT_REQUIRED',
        input_request: request,
        inputs: [{ id: 'in_1' }],
        attempts: [{ attempt: 1, ended_at: null }],
      });
      expect((await give(id, { id: 'in_1', content: { city: 'Paris' } })).status).toBe(200);
      const ended = await server.get(`/v1/tool_calls/${id}`, WAIT);
      expect(ended.json).toMatchObject({
        status: 'SUCCEEDED',
        inputs: [{ id: 'in_1', action: 'accept', content: { city: 'Paris' } }],
        attempts: [{ attempt: 1 }],
      });
      expect(ended.json.attempts).toHaveLength(1);
      expect(ended.json.attempts[0].ended_at).not.toBeNull();
      expect(ended.json).not.toHaveProperty('input_request');
      expect(JSON.stringify(ended.json.result)).toContain('Paris');
    }
  });

  it('returns the record to a GET that waits, when input is needed', async () => {
    const { json } = await server.post('/v1/tools/ask/invoke', { run_id: 'run_1' });
    const record = await server.get(`/v1/tool_calls/${json.tool_call_id}`, WAIT);
    expect(record.json).toMatchObject({ state: 'INPUT_REQUIRED', input_request: { message: 'Which city?' } });
    await server.post(`/v1/tool_calls/${json.tool_call_id}/cancel`, {});
  });

  it('has a link without a schema, and no content in the response', async () => {
    const { json } = await invoke('ask.link');
    expect(json.input_request).toEqual({
      id: 'in_1',
      message: 'Sign in',
      kind: 'url',
      url: 'https://id.test/',
      expires_at: expect.any(String),
    });
    await give(json.tool_call_id, { id: 'in_1' });
    const ended = await server.get(`/v1/tool_calls/${json.tool_call_id}`, WAIT);
    expect(ended.json).toMatchObject({ status: 'SUCCEEDED', result: null, inputs: [{ action: 'accept' }] });
  });

  it('fails at once for callers that cannot respond: input=none and batch', async () => {
    expect((await invoke('ask', NO_INPUT)).json).toMatchObject({
      status: 'FAILED',
      error: { code: 'input_unavailable' },
    });
    const batch = await server.post('/v1/tool_calls/batch', {
      run_id: 'run_1',
      format: 'openai',
      reply: { tool_calls: [{ id: '1', type: 'function', function: { name: 'ask', arguments: '{}' } }] },
    });
    expect(batch.text).toContain('input_unavailable');
  });

  it('refuses a response that does not fit, is for another request, comes twice or after the end', async () => {
    const { tool_call_id: id } = (await invoke('ask')).json;
    expect((await give(id, { id: 'in_1', content: { city: 7 } })).json).toMatchObject({
      status: 422,
      code: 'input_invalid',
      errors: [{ path: '/city' }],
      state: 'INPUT_REQUIRED',
    });
    expect((await give(id, { id: 'in_2', content: {} })).json).toMatchObject({
      status: 409,
      code: 'conflict',
    });
    expect((await give(id, { content: {} })).json).toMatchObject({ status: 400, code: 'body_invalid' });
    expect((await give(id, { id: 'in_1', action: 'maybe' })).json).toMatchObject({ status: 400 });
    const both = await Promise.all(
      ['Rome', 'Oslo'].map((city) => give(id, { id: 'in_1', content: { city } })),
    );
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
    await server.get(`/v1/tool_calls/${id}`, WAIT);
    expect((await give(id, { id: 'in_1', content: { city: 'Rome' } })).json).toMatchObject({
      status: 409,
      state: 'COMPLETED',
    });
    expect((await give('tc_none', { id: 'in_1' })).json).toMatchObject({
      status: 404,
      code: 'call_not_found',
    });
  });

  it('ends with input_declined when the caller declines', async () => {
    const { tool_call_id: id } = (await invoke('ask')).json;
    expect((await give(id, { id: 'in_1', action: 'decline' })).status).toBe(200);
    expect((await server.get(`/v1/tool_calls/${id}`, WAIT)).json).toMatchObject({
      status: 'FAILED',
      error: { code: 'input_declined' },
      inputs: [{ action: 'decline' }],
    });
  });

  it('sends input_required and input_given, with hashes and without texts', async () => {
    const { tool_call_id: id } = (await invoke('ask')).json;
    await give(id, { id: 'in_1', content: { city: 'Reykjavik' } });
    const frames = await (await openSse(`${server.url}/v1/tool_calls/${id}/events`)).rest();
    const types = frames.map(({ event }) => event);
    expect(types).toContain('input_required');
    expect(types).toContain('input_given');
    const given = frames.find(({ event }) => event === 'input_given');
    expect(JSON.parse(given?.data ?? '{}')).toMatchObject({
      tool_call_id: id,
      input_request_id: 'in_1',
      action: 'accept',
      content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const ledger = await server.get(`/v1/ledger?tool_call_id=${id}`);
    expect(ledger.text).toContain('input_given');
    expect(frames.map(({ data }) => data).join() + ledger.text).not.toContain('Reykjavik');
  });
});
