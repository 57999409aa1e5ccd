import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputRequired } from '../../src/core/call/input.ts';
import { aPrincipal, aServerTool } from '../support/an-engine.ts';
import { CITY } from '../support/asking-tools.ts';
import { waitFor } from '../support/wait-for.ts';
import { aServer, OPERATOR_TOKEN, type TestServer } from '../http/support/a-server.ts';
import { danger } from '../http/support/toy-tools.ts';
import { aLegacyClient, FORMS, toolCall, type Json, type LegacyClient } from './support/legacy-client.ts';

const asking = aServerTool({
  name: 'ask',
  annotations: { asks_input: true },
  execute: async (_args, context) => ({ said: await context.requestInput(CITY) }),
});

const askingTwice = aServerTool({
  name: 'ask-twice',
  annotations: { asks_input: true },
  execute: async (_args, context) => {
    await context.requestInput(CITY);
    return { said: await context.requestInput(CITY) };
  },
});

const returning = aServerTool({
  name: 'returns',
  annotations: { asks_input: true },
  execute: (_args, { inputs }) => {
    const { city, again } = inputs;
    if (city === undefined) return new InputRequired({ city: CITY, again: CITY });
    return { said: [city.content, again?.content] };
  },
});

const sampling = aServerTool({
  name: 'samples',
  execute: async (_args, context) => ({
    said: await context.requestInput({
      message: 'for the model',
      sampling: { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 },
    }),
  }),
});

const rooted = aServerTool({
  name: 'roots',
  execute: async (_args, context) => ({
    said: await context.requestInput({ message: 'for the folders', roots: true }),
  }),
});

const talking = aServerTool({
  name: 'talk',
  execute: (_args, context) => {
    context.progress({ progress: 1, total: 2 });
    context.emit('log', 'plain');
    context.emit('disk', { level: 'error', free: 0 });
    context.log.info('of the server');
    return Promise.resolve('said');
  },
});

const taskOnly = aServerTool({ name: 'task-only', task: 'always' });

let server: TestServer;
beforeAll(async () => {
  server = await aServer({
    tools: [asking, askingTwice, returning, sampling, rooted, talking, taskOnly, danger],
    limits: { openBytesPerTenant: 20_000 },
  });
});
afterAll(() => server.close());

const aClient = (capabilities: object = FORMS, query = ''): Promise<LegacyClient> =>
  aLegacyClient(server.url, { capabilities, query });

function respond(client: LegacyClient, id: unknown, result: object): ReturnType<LegacyClient['post']> {
  return client.post({ jsonrpc: '2.0', id, result });
}

async function stateOf(id: string): Promise<string> {
  return (await server.engine.calls.find(aPrincipal(), id))!.state.name;
}

async function newest(): Promise<{ id: string; state: string }> {
  const { items } = await server.engine.calls.list(aPrincipal(), {}, null, 1);
  return { id: items[0]!.id, state: items[0]!.state.name };
}

const accepted = (city: unknown) => ({ action: 'accept', content: { city } });

describe('an input request in a session', () => {
  it('is sent on the response stream, and the response of the client continues the call', async () => {
    const client = await aClient();
    const reply = await client.post(toolCall('ask'));
    const request = await reply.next();
    expect(request).toMatchObject({
      jsonrpc: '2.0',
      method: 'elicitation/create',
      params: { message: CITY.message, requestedSchema: CITY.schema },
    });
    const posted = await respond(client, request.id, accepted('Paris'));
    expect([posted.status, await posted.next()]).toEqual([202, null]);
    expect((await reply.next()).result.structuredContent).toEqual({ said: { city: 'Paris' } });
    expect(await reply.next()).toBeNull();
  });

  it('counts once: a second response is ignored', async () => {
    const client = await aClient();
    const reply = await client.post(toolCall('ask'));
    const { id } = await reply.next();
    expect((await respond(client, id, accepted('Paris'))).status).toBe(202);
    expect((await respond(client, id, accepted('Rome'))).status).toBe(202);
    expect((await reply.next()).result.structuredContent).toEqual({ said: { city: 'Paris' } });
  });

  it('that is declined fails the call, as does an error of the client', async () => {
    const client = await aClient();
    for (const given of [{ result: { action: 'decline' } }, { error: { code: -1, message: 'no' } }]) {
      const reply = await client.post(toolCall('ask'));
      const { id } = await reply.next();
      expect((await client.post({ jsonrpc: '2.0', id, ...given })).status).toBe(202);
      const { result } = await reply.next();
      expect([result.isError, result._meta['patchboard/error'].code]).toEqual([true, 'input_declined']);
    }
  });

  it('that the user closes stays open, and the client gets a receipt', async () => {
    const client = await aClient(FORMS, '?hold=1');
    const reply = await client.post(toolCall('ask'));
    const { id } = await reply.next();
    expect((await respond(client, id, { action: 'cancel' })).status).toBe(202);
    const { structuredContent } = (await reply.next()).result;
    expect(structuredContent).toMatchObject({ status: 'pending', waits_for: 'input' });
    expect(await stateOf(structuredContent.tool_call_id)).toBe('INPUT_REQUIRED');
  });

  it('takes a response that comes after the receipt', async () => {
    const client = await aClient(FORMS, '?hold=1');
    const reply = await client.post(toolCall('ask'));
    const { id } = await reply.next();
    const { tool_call_id: callId } = (await reply.next()).result.structuredContent;
    expect((await respond(client, id, accepted('Oslo'))).status).toBe(202);
    const later = await client.request('tools/call', {
      name: 'patchboard__result',
      arguments: { tool_call_id: callId },
    });
    expect(later.result.structuredContent).toEqual({ said: { city: 'Oslo' } });
  });

  it('is sent on the stream of the session if no response is open', async () => {
    const client = await aClient(FORMS, '?hold=1');
    const stream = await client.listen();
    const reply = await client.post(toolCall('ask-twice'));
    const { id } = await reply.next();
    const { tool_call_id: callId } = (await reply.next()).result.structuredContent;
    await respond(client, id, accepted('Oslo'));
    const second = await stream.next();
    expect(second.method).toBe('elicitation/create');
    await respond(client, second.id, accepted('Bergen'));
    await waitFor(async () => expect(await stateOf(callId)).toBe('COMPLETED'));
  });

  it('refuses an invalid response with 400, and takes a valid one after it', async () => {
    const client = await aClient();
    const reply = await client.post(toolCall('ask'));
    const { id } = await reply.next();
    for (const wrong of [accepted(7), { action: 'perhaps' }]) {
      const posted = await respond(client, id, wrong);
      expect([posted.status, (await posted.next()).error.code]).toEqual([400, -32_602]);
    }
    expect((await respond(client, id, accepted('Rome'))).status).toBe(202);
    expect((await reply.next()).result.structuredContent).toEqual({ said: { city: 'Rome' } });
  });

  it('refuses a response for which there is no room with 503, and takes one that fits after it', async () => {
    const client = await aClient();
    const reply = await client.post(toolCall('ask'));
    const { id } = await reply.next();
    const posted = await respond(client, id, accepted('x'.repeat(20_000)));
    expect([posted.status, (await posted.next()).error.data.code]).toEqual([503, 'overloaded']);
    expect((await respond(client, id, accepted('Rome'))).status).toBe(202);
    expect((await reply.next()).result.structuredContent).toEqual({ said: { city: 'Rome' } });
  });

  it('takes no response from another session', async () => {
    const client = await aClient();
    const other = await aClient();
    const reply = await client.post(toolCall('ask'));
    const { id } = await reply.next();
    expect((await respond(other, id, accepted('Rome'))).status).toBe(202);
    expect((await newest()).state).toBe('INPUT_REQUIRED');
    await respond(client, id, accepted('Paris'));
    expect((await reply.next()).result.structuredContent).toEqual({ said: { city: 'Paris' } });
  });

  it('may be one of several, each with an id of its own', async () => {
    const client = await aClient();
    const reply = await client.post(toolCall('returns'));
    const requests = [await reply.next(), await reply.next()];
    expect(new Set(requests.map(({ id }: Json) => id)).size).toBe(2);
    await respond(client, requests[1].id, accepted('second'));
    await respond(client, requests[0].id, accepted('first'));
    expect((await reply.next()).result.structuredContent).toEqual({
      said: [{ city: 'first' }, { city: 'second' }],
    });
  });

  it('may be for the model or the folders of the client', async () => {
    const client = await aClient({ sampling: {}, roots: {} });
    const message = { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'm' };
    const cases: [string, string, object][] = [
      ['samples', 'sampling/createMessage', message],
      ['roots', 'roots/list', { roots: [{ uri: 'file:///home' }] }],
    ];
    for (const [tool, method, result] of cases) {
      const reply = await client.post(toolCall(tool));
      const request = await reply.next();
      expect(request.method).toBe(method);
      expect((await respond(client, request.id, result)).status).toBe(202);
      expect((await reply.next()).result.structuredContent).toEqual({ said: result });
    }
  });

  it.each([
    ['did not declare it', {}, {}],
    ['takes no stream', FORMS, { accept: 'application/json' }],
  ])('fails the call of a client that %s, as a result', async (_what, capabilities, headers) => {
    const client = await aClient(capabilities);
    const reply = await client.post(toolCall('ask'), headers);
    const { result } = await reply.next();
    expect([result.isError, result._meta['patchboard/error'].code]).toEqual([true, 'input_unavailable']);
  });

  it('is not sent in a version that has no elicitation', async () => {
    const client = await aLegacyClient(server.url, { version: '2025-03-26', capabilities: FORMS });
    const { result } = await client.request('tools/call', { name: 'ask', arguments: {} });
    expect(result.isError).toBe(true);
  });
});

describe('a tool that runs as a task only', () => {
  it('returns a result that says so', async () => {
    const client = await aClient();
    const { result } = await client.request('tools/call', { name: 'task-only', arguments: {} });
    expect([result.isError, result.content[0].text]).toEqual([true, expect.stringContaining('task')]);
  });
});

describe('an approval in a session with url elicitation', () => {
  const URLS = { elicitation: { form: {}, url: {} } };
  const operator = { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } };

  async function awaitingApproval(client: LegacyClient) {
    const reply = await client.post(toolCall('danger'));
    const request = await reply.next();
    return { reply, request, call: (await newest()).id };
  }

  it('is shown as a link, completed after the decision; accepting approves nothing', async () => {
    const client = await aClient(URLS);
    const { reply, request, call } = await awaitingApproval(client);
    const { mode, url, elicitationId } = request.params;
    expect([request.method, mode]).toEqual(['elicitation/create', 'url']);
    expect(url).toBe(`${server.url}/ui/approvals?id=${call}`);
    expect((await respond(client, request.id, { action: 'accept' })).status).toBe(202);
    expect(await stateOf(call)).toBe('APPROVAL_REQUIRED');
    const { approval } = (await server.engine.calls.find(aPrincipal(), call))!;
    const decision = { decision: 'allow', digest: approval!.digest };
    const decided = await server.post(`/v1/tool_calls/${call}/decision`, decision, operator);
    expect(decided.status).toBe(200);
    expect(await reply.next()).toMatchObject({
      method: 'notifications/elicitation/complete',
      params: { elicitationId },
    });
    expect((await reply.next()).result.isError).toBe(false);
  });

  it('that is declined cancels the call', async () => {
    const client = await aClient(URLS);
    const { reply, request, call } = await awaitingApproval(client);
    await respond(client, request.id, { action: 'decline' });
    const messages = await reply.rest();
    expect(messages.at(-1).result._meta['patchboard/error'].code).toBe('cancelled');
    await waitFor(async () => expect(await stateOf(call)).toBe('CANCELLED'));
  });

  it('without url elicitation is a receipt after the hold', async () => {
    const client = await aClient(FORMS, '?hold=1');
    const { result } = await client.request('tools/call', { name: 'danger', arguments: {} });
    expect(result.structuredContent).toMatchObject({ status: 'pending', waits_for: 'approval' });
  });
});

describe('reports of a tool in a session', () => {
  it('are progress with the token, and events from the level that the client set', async () => {
    const client = await aClient();
    const call = toolCall('talk', {}, { progressToken: 'p' });
    const methods = async () => (await (await client.post(call)).rest()).map((one) => one.method ?? 'result');
    const message = 'notifications/message';
    expect(await methods()).toEqual(['notifications/progress', message, message, 'result']);
    expect((await client.request('logging/setLevel', { level: 'warning' })).result).toEqual({});
    expect(await methods()).toEqual(['notifications/progress', message, 'result']);
    const { error } = await client.request('logging/setLevel', { level: 'loud' });
    expect(error.code).toBe(-32_602);
  });
});
