import { createClient } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aBoard } from '../support/a-board.ts';
import { acceptsInputOf } from '../../src/transports/shared/routes/request-hints.ts';
import { aServerTool } from '../support/an-engine.ts';
import { tool } from '../../src/index.ts';
import { aServer, type HttpResponse, type TestServer } from './support/a-server.ts';

const REQUEST = {
  message: 'Summarise',
  sampling: { messages: [{ role: 'user', content: { type: 'text', text: 'long' } }], maxTokens: 9 },
} as const;
const REPLY = { role: 'assistant', content: { type: 'text', text: 'short' }, model: 'm' };

let server: TestServer;
beforeAll(async () => {
  const sample = aServerTool({ name: 'sample', execute: (_args, context) => context.requestInput(REQUEST) });
  server = await aServer({ tools: [sample] });
});
afterAll(async () => {
  await server.close();
});

async function invoke(prefer: string): Promise<HttpResponse> {
  return await server.post('/v1/tools/sample/invoke', { run_id: 'r' }, { headers: { prefer } });
}

describe('a tool that asks for a message of the caller’s model over HTTP', () => {
  it('fails unless the caller has said that it can respond, and names the kind', async () => {
    const refused = await invoke('wait=10');
    expect(refused.json).toMatchObject({
      state: 'FAILED',
      error: {
        code: 'input_unavailable',
        reasons: [{ code: 'input_caller_cannot', params: { tool: 'sample', kind: 'sampling' } }],
      },
    });
  });

  it('shows its parameters and takes the result', async () => {
    const asked = await invoke('wait=10, input="form url sampling"');
    expect(asked.status).toBe(202);
    expect(asked.json.input_request).toMatchObject({ id: 'in_1', kind: 'sampling', ...REQUEST });
    const { tool_call_id: id } = asked.json;
    const given = await server.post(`/v1/tool_calls/${id}/input`, { id: 'in_1', content: REPLY });
    expect(given.status).toBe(200);
    const record = await server.get(`/v1/tool_calls/${id}`, { headers: { prefer: 'wait=10' } });
    expect(record.json).toMatchObject({
      result: REPLY,
      inputs: [{ kind: 'sampling', sampling: REQUEST.sampling, content: REPLY }],
    });
  });

  it('reaches onInputRequest of the TypeScript client', async () => {
    const client = createClient({ url: server.url });
    const kinds: unknown[] = [];
    const call = await client.call(
      'sample',
      {},
      {
        acceptsInput: ['sampling'],
        onInputRequest: ({ kind, sampling }) => {
          kinds.push(kind, sampling);
          return REPLY;
        },
      },
    );
    expect(call.result).toEqual(REPLY);
    expect(kinds).toEqual(['sampling', REQUEST.sampling]);
  });
});

describe('a board', () => {
  const roots = tool('roots', (_args, context) => context.requestInput({ message: 'Where?', roots: true }));
  const onInputRequest = (): unknown => ({ roots: [] });

  it('asks for roots only if the call says so', async () => {
    const board = await aBoard({ tools: [roots] });
    expect(await board.call('roots', {}, { onInputRequest })).toMatchObject({ code: 'input_unavailable' });
    expect(await board.call('roots', {}, { onInputRequest, acceptsInput: ['roots'] })).toMatchObject({
      result: { roots: [] },
      inputs: [{ kind: 'roots' }],
    });
  });

  it('refuses an unknown kind', async () => {
    const board = await aBoard({ tools: [roots] });
    await expect(board.call('roots', {}, { acceptsInput: ['voice'] as never })).rejects.toThrow(
      'acceptsInput must be true, false or a list of form, url, sampling, roots',
    );
  });
});

it.each([
  [undefined, true],
  ['wait=3', true],
  ['input=none', false],
  ['wait=3, input="none"', false],
  ['input=form', ['form']],
  ['Input = "URL  form"; wait=1', true],
  ['input="form url sampling roots"', ['form', 'url', 'sampling', 'roots']],
  ['input="roots voice"', ['roots']],
  ['input=voice', true],
  ['input="form', true],
])('reads Prefer: %s as %j', (prefer, expected) => {
  expect(acceptsInputOf(prefer === undefined ? {} : { prefer })).toEqual(expected);
});
