import { describe, expect, it } from 'vitest';
import { InputRequired } from '../../src/core/call/input.ts';
import type { ServerTool } from '../../src/core/tools/server-tool.ts';
import { aServerTool } from '../support/an-engine.ts';
import { CITY, holding, returning } from '../support/asking-tools.ts';
import {
  FORM,
  mcpServers,
  TASKS,
  URL_MODE,
  type McpFixture,
  type McpGiven,
} from './support/a-modern-client.ts';

const start = mcpServers();

async function serving(tool: ServerTool, given: McpGiven = {}): Promise<McpFixture> {
  return await start({ tools: [tool], onlyMcp: true, ...given });
}

const PARIS = { city: { action: 'accept', content: { city: 'Paris' } } };
const INVALID = { code: -32_602, data: { reason: 'invalid_request_state' } };

describe('a call that asks for input', () => {
  it('returns the request, and with the response the result', async () => {
    const tool = returning();
    const server = await serving(tool);
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        city: {
          method: 'elicitation/create',
          params: { mode: 'form', message: CITY.message, requestedSchema: CITY.schema },
        },
      },
      requestState: expect.stringMatching(/^[^.]+\.1\./) as string,
    });
    const { requestState } = result;
    const retry = { requestState, inputResponses: { ...PARIS, unknown: { action: 'accept' } } };
    const done = await server.call('ask', retry, { capabilities: FORM });
    expect(done.result).toMatchObject({
      resultType: 'complete',
      isError: false,
      structuredContent: { said: { city: 'Paris' }, carried: { step: 1 } },
    });
    expect(tool.runs).toHaveLength(2);
    // The state was used.
    expect((await server.call('ask', retry, { capabilities: FORM })).error).toMatchObject(INVALID);
    expect(tool.runs).toHaveLength(2);
  });

  it('asks again for what is missing, and does not use a key twice', async () => {
    const request = { ...CITY };
    const server = await serving(
      aServerTool({
        name: 'ask',
        execute: (_args, { inputs, carried }) => {
          if (carried === 2) return Object.keys(inputs);
          return new InputRequired({ one: request, two: request }, carried === undefined ? 1 : 2);
        },
      }),
    );
    const sending = { capabilities: FORM };
    const first = (await server.call('ask', {}, sending)).result;
    expect(Object.keys(first.inputRequests)).toEqual(['one', 'two']);
    const { requestState } = first;
    const response = PARIS.city;
    const cancelled = { requestState, inputResponses: { one: response, two: { action: 'cancel' } } };
    const second = (await server.call('ask', cancelled, sending)).result;
    expect(Object.keys(second.inputRequests)).toEqual(['two']);
    const third = (await server.call('ask', { requestState, inputResponses: { two: response } }, sending))
      .result;
    expect(third.resultType).toBe('input_required');
    expect(Object.keys(third.inputRequests)).toEqual(['one.in_3', 'two.in_4']);
    const responses = { 'one.in_3': response, 'two.in_4': response };
    const last = await server.call(
      'ask',
      { requestState: third.requestState, inputResponses: responses },
      sending,
    );
    expect(last.result.structuredContent).toEqual(['one', 'two']);
  });

  it.each([
    ['no object', 7],
    ['a response that is a number', { city: 12_345 }],
    ['an unknown action', { city: { action: 'perhaps' } }],
    ['content that does not fit', { city: { action: 'accept', content: { city: 7 } } }],
    ['no content', { city: { action: 'accept' } }],
  ])('refuses %s, and loses nothing', async (_what, inputResponses) => {
    const tool = returning();
    const server = await serving(tool);
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    const { requestState } = result;
    const refused = await server.call('ask', { requestState, inputResponses }, { capabilities: FORM });
    expect(refused.error.code).toBe(-32_602);
    const done = await server.call('ask', { requestState, inputResponses: PARIS }, { capabilities: FORM });
    expect(done.result.resultType).toBe('complete');
    expect(tool.runs).toHaveLength(2);
  });

  it('keeps a response that came with a malformed one', async () => {
    const server = await serving(
      aServerTool({
        name: 'ask',
        execute: (_args, { inputs }) =>
          Object.keys(inputs).length === 2 ? inputs : new InputRequired({ one: CITY, two: CITY }),
      }),
    );
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    const { requestState } = result;
    const bad = { one: PARIS.city, two: { action: 'accept', content: 7 } };
    const refused = await server.call('ask', { requestState, inputResponses: bad }, { capabilities: FORM });
    expect(refused.error.code).toBe(-32_602);
    const rome = { action: 'accept', content: { city: 'Rome' } };
    const good = { one: rome, two: rome };
    const done = await server.call('ask', { requestState, inputResponses: good }, { capabilities: FORM });
    expect(done.result.structuredContent).toEqual({ one: PARIS.city, two: rome });
  });

  it('ends if the user declines', async () => {
    const server = await serving(returning());
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    const responses = { requestState: result.requestState, inputResponses: { city: { action: 'decline' } } };
    const done = await server.call('ask', responses, { capabilities: FORM });
    expect(done.result).toMatchObject({
      isError: true,
      _meta: { 'patchboard/error': { code: 'input_declined' } },
    });
  });

  it('is continued once by two requests at the same time', async () => {
    const tool = returning();
    const server = await serving(tool);
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    const retry = { requestState: result.requestState, inputResponses: PARIS };
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => server.call('ask', retry, { capabilities: FORM })),
    );
    expect(replies.filter((reply) => reply.result?.resultType === 'complete')).toHaveLength(1);
    for (const { error } of replies.filter((reply) => reply.result === undefined))
      expect(error).toMatchObject(INVALID);
    expect(tool.runs).toHaveLength(2);
  });

  it('is continued by the same key, too', async () => {
    const tool = returning();
    const server = await serving(tool);
    const sending = { capabilities: FORM, meta: { 'patchboard/idempotency_key': 'k1' } };
    const first = (await server.call('ask', {}, sending)).result;
    expect((await server.call('ask', {}, sending)).result).toEqual(first);
    const done = await server.call('ask', { inputResponses: PARIS }, sending);
    expect(done.result.structuredContent).toMatchObject({ said: { city: 'Paris' } });
    expect(tool.runs).toHaveLength(2);
  });

  it('and waits in its attempt is continued the same way', async () => {
    const server = await serving(holding());
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    const retry = { requestState: result.requestState, inputResponses: { input: PARIS.city } };
    const done = await server.call('ask', retry, { capabilities: FORM });
    expect(done.result.structuredContent).toEqual({ said: { city: 'Paris' } });
  });

  it.each([
    ['another caller', {}, { 'x-agent-id': 'stranger' }],
    ['another tool', { name: 'other' }, {}],
    ['other arguments', { arguments: { city: 'Rome' } }, {}],
  ])('is not continued by %s', async (_what, params, headers) => {
    const tool = returning();
    const other = aServerTool({ name: 'other' });
    const server = await start({ tools: [tool, other], onlyMcp: true });
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    const retry = { name: 'ask', requestState: result.requestState, inputResponses: PARIS, ...params };
    const refused = await server.call('ask', retry, { capabilities: FORM, headers });
    expect(refused.error).toMatchObject(INVALID);
    expect(tool.runs).toHaveLength(1);
  });

  it('is not named by a made-up state', async () => {
    const server = await serving(returning());
    for (const requestState of ['', 'x', '.1', 'tc.1', 'tc.1.0123456789abcdef', '../../etc/passwd']) {
      const retry = { requestState, inputResponses: PARIS };
      expect((await server.call('ask', retry, { capabilities: FORM })).error).toMatchObject(INVALID);
    }
  });

  it('is not continued with the state of another round', async () => {
    const server = await serving(returning());
    const { result } = await server.call('ask', {}, { capabilities: FORM });
    for (const round of ['0', '2', '01']) {
      const requestState = (result.requestState as string).replace('.1.', `.${round}.`);
      const refused = await server.call(
        'ask',
        { requestState, inputResponses: PARIS },
        { capabilities: FORM },
      );
      expect(refused.error).toMatchObject(INVALID);
    }
  });
});

describe('responses without a state', () => {
  it('are used when the tool asks, and unknown keys are ignored', async () => {
    const tool = returning();
    const server = await serving(tool);
    const inputResponses = { ...PARIS, roots: { roots: [] }, model: { role: 'assistant' } };
    const { result } = await server.call('ask', { inputResponses }, { capabilities: FORM });
    expect(result).toMatchObject({
      resultType: 'complete',
      structuredContent: { said: { city: 'Paris' } },
    });
  });

  it('that do not fit, or of another key, are asked for', async () => {
    const server = await serving(returning());
    for (const inputResponses of [
      {},
      { other: PARIS.city },
      { city: { action: 'cancel' } },
      { city: { action: 'accept', content: { city: 7 } } },
    ]) {
      const { result } = await server.call('ask', { inputResponses }, { capabilities: FORM });
      expect(result.resultType).toBe('input_required');
      expect(Object.keys(result.inputRequests as object)).toEqual(['city']);
    }
  });

  it.each([[null], [[]], [{ city: 12_345 }], [{ city: null }], [{ city: { content: {} } }]])(
    'are refused if malformed: %j',
    async (inputResponses) => {
      const tool = returning();
      const server = await serving(tool);
      const { error } = await server.call('ask', { inputResponses }, { capabilities: FORM });
      expect(error.code).toBe(-32_602);
      expect(tool.runs).toEqual([]);
    },
  );
});

describe('kinds of input', () => {
  const SAMPLING = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 9 };
  const REPLY = { role: 'assistant', content: { type: 'text', text: 'ho' }, model: 'm' };
  const LINK = 'https://pay.test/1';
  const asking = (request: ConstructorParameters<typeof InputRequired>[0]['x']): ServerTool =>
    aServerTool({
      name: 'ask',
      execute: (_args, { inputs }) => inputs['it'] ?? new InputRequired({ it: request! }),
    });

  it.each([
    [
      'a link',
      URL_MODE,
      { message: 'Pay', url: LINK },
      { method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url: LINK } },
      { action: 'accept' },
      { action: 'accept', content: null },
    ],
    [
      'a message of a model',
      { sampling: {} },
      { message: 'Say', sampling: SAMPLING },
      { method: 'sampling/createMessage', params: SAMPLING },
      REPLY,
      { action: 'accept', content: REPLY },
    ],
    [
      'roots',
      { roots: {} },
      { message: 'Where', roots: true as const },
      { method: 'roots/list' },
      { roots: [{ uri: 'file:///a' }] },
      { action: 'accept', content: { roots: [{ uri: 'file:///a' }] } },
    ],
  ])('%s', async (_what, capabilities, request, json, response, given) => {
    const server = await serving(asking(request));
    const { result } = await server.call('ask', {}, { capabilities });
    expect(result.inputRequests.it).toMatchObject(json);
    const { requestState } = result;
    const done = await server.call(
      'ask',
      { requestState, inputResponses: { it: response } },
      { capabilities },
    );
    expect(done.result.structuredContent).toEqual(given);
  });

  it.each([
    ['form', CITY, { elicitation: { form: {} } }, URL_MODE],
    ['url', { message: 'Pay', url: LINK }, { elicitation: { url: {} } }, FORM],
    ['sampling', { message: 'Say', sampling: SAMPLING }, { sampling: {} }, FORM],
    ['roots', { message: 'Where', roots: true as const }, { roots: {} }, FORM],
  ])('that the client does not have: %s', async (_kind, request, requiredCapabilities, capabilities) => {
    const server = await serving(asking(request));
    const refused = await server.call('ask', {}, { capabilities });
    expect(refused.status).toBe(400);
    expect(refused.error).toMatchObject({ code: -32_021, data: { code: 'input_unavailable' } });
    expect(refused.error.data.requiredCapabilities).toEqual(requiredCapabilities);
  });
});

describe('a client with tasks', () => {
  it('gets input_required if no attempt waits, and a task if one does', async () => {
    const held = aServerTool({
      name: 'held',
      execute: async (_args, context) => await context.requestInput(CITY),
    });
    const server = await start({ tools: [returning(), held], onlyMcp: true });
    const sending = { capabilities: { ...FORM, ...TASKS } };
    expect((await server.call('ask', {}, sending)).result.resultType).toBe('input_required');
    const task = (await server.call('held', {}, sending)).result;
    expect(task).toMatchObject({ resultType: 'task', status: 'working' });
    const { taskId } = task;
    const open = (await server.rpc('tasks/get', { taskId }, sending)).result;
    expect(open).toMatchObject({
      resultType: 'complete',
      status: 'input_required',
      inputRequests: { input: { method: 'elicitation/create' } },
    });
    const inputResponses = { input: PARIS.city };
    const updated = await server.rpc('tasks/update', { taskId, inputResponses }, sending);
    expect(Object.keys(updated.result)).toEqual(['resultType', '_meta']);
  });
});
