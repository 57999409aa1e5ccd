import { describe, expect, it } from 'vitest';
import { askingTool } from '../guard/support/asking.ts';
import { OPERATOR_TOKEN, type HttpResponse } from '../http/support/a-server.ts';
import { mcpServers, TASKS, URL_MODE, type McpFixture, type McpGiven } from './support/a-modern-client.ts';

const start = mcpServers();
const NAME = 'toy.delete';
const OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}` };
const ACCEPT = { approval: { action: 'accept' } };

async function serving(given: McpGiven = {}): Promise<McpFixture & { readonly ran: unknown[] }> {
  const { tool, ran } = askingTool();
  return { ...(await start({ tools: [tool], ...given })), ran };
}

async function record(server: McpFixture, id: string): Promise<HttpResponse['json']> {
  return (await server.get(`/v1/tool_calls/${id}`, { headers: OPERATOR })).json;
}

async function decide(server: McpFixture, id: string, decision: string, more = {}): Promise<HttpResponse> {
  const { digest } = (await record(server, id)).approval;
  const body = { decision, digest, ...more };
  return await server.post(`/v1/tool_calls/${id}/decision`, body, { headers: OPERATOR });
}

const idOf = (result: { _meta: Record<string, string> }): string => result._meta['patchboard/tool_call_id']!;

describe('a client with URL elicitation and no tasks', () => {
  const sending = { capabilities: URL_MODE };

  it('gets a link, waits for the decision and gets the result', async () => {
    const server = await serving({ mcp: { holdMs: 100 } });
    const { result } = await server.call(NAME, {}, sending);
    const id = idOf(result);
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        approval: {
          method: 'elicitation/create',
          params: {
            mode: 'url',
            url: `${server.url}/ui/approvals?id=${id}`,
            message: expect.stringContaining(NAME) as string,
          },
        },
      },
    });
    const { requestState } = result;
    // Without a response to the link, it is sent again.
    const again = (await server.call(NAME, { requestState }, sending)).result;
    expect(Object.keys(again.inputRequests)).toEqual(['approval']);
    const looks = (await server.call(NAME, { requestState, inputResponses: ACCEPT }, sending)).result;
    expect(looks).toMatchObject({ resultType: 'input_required', requestState });
    expect(looks).not.toHaveProperty('inputRequests');
    expect((await server.call(NAME, { requestState }, sending)).result).not.toHaveProperty('inputRequests');
    expect(server.ran).toEqual([]);
    expect((await decide(server, id, 'allow')).status).toBe(200);
    const done = (await server.call(NAME, { requestState }, sending)).result;
    expect(done).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
    expect(server.ran).toHaveLength(1);
  });

  it('gets the result of a decision that comes while it waits', async () => {
    const server = await serving();
    const { result } = await server.call(NAME, {}, sending);
    const { requestState } = result;
    const waiting = server.call(NAME, { requestState, inputResponses: ACCEPT }, sending);
    await decide(server, idOf(result), 'deny');
    expect((await waiting).result).toMatchObject({
      isError: true,
      _meta: { 'patchboard/error': { code: 'approval_denied' } },
    });
  });

  it('gets the note of the operator who denied', async () => {
    const server = await serving();
    const { result } = await server.call(NAME, {}, sending);
    await decide(server, idOf(result), 'deny', { note: 'not at night' });
    const denied = (await server.call(NAME, { requestState: result.requestState }, sending)).result;
    expect(denied.content[0].text).toMatch(/^approval_denied: .+\nNote of the operator: not at night$/);
    expect(denied._meta['patchboard/error']).toMatchObject({ note: 'not at night' });
  });

  it('gets the result although the operator changed the arguments', async () => {
    const server = await serving();
    const { result } = await server.call(NAME, { arguments: { path: '/a' } }, sending);
    const id = idOf(result);
    const { digest } = (await record(server, id)).approval;
    const decision = { decision: 'allow', digest, args: { path: '/b' } };
    await server.post(`/v1/tool_calls/${id}/decision`, decision, { headers: OPERATOR });
    const retry = { arguments: { path: '/a' }, requestState: result.requestState };
    expect((await server.call(NAME, retry, sending)).result.resultType).toBe('complete');
    expect(server.ran).toEqual([{ path: '/b' }]);
  });

  it('cancels its own call if it declines', async () => {
    const server = await serving();
    const { result } = await server.call(NAME, {}, sending);
    const inputResponses = { approval: { action: 'decline' } };
    const declined = await server.call(NAME, { requestState: result.requestState, inputResponses }, sending);
    expect(declined.result).toMatchObject({
      isError: true,
      _meta: { 'patchboard/error': { code: 'cancelled' } },
    });
    expect((await record(server, idOf(result))).state).toBe('CANCELLED');
  });
});

describe('a client with tasks', () => {
  it('gets a task at once, whose input is the link, once', async () => {
    const server = await serving();
    const sending = { capabilities: { ...URL_MODE, ...TASKS } };
    const task = (await server.call(NAME, {}, sending)).result;
    expect(task).toMatchObject({
      resultType: 'task',
      status: 'working',
      statusMessage: expect.stringContaining('/ui/approvals?id=') as string,
      pollIntervalMs: 5000,
    });
    const { taskId } = task;
    const get = async (): Promise<Record<string, unknown>> =>
      (await server.rpc('tasks/get', { taskId }, sending)).result as Record<string, unknown>;
    expect(await get()).toMatchObject({ status: 'input_required', inputRequests: { approval: {} } });
    await server.rpc('tasks/update', { taskId, inputResponses: ACCEPT }, sending);
    const working = await get();
    expect(working['status']).toBe('working');
    expect(working).not.toHaveProperty('inputRequests');
    await decide(server, taskId, 'allow');
    await server.get(`/v1/tool_calls/${taskId}`, { headers: { prefer: 'wait=20' } });
    expect(await get()).toMatchObject({ status: 'completed', result: { resultType: 'complete' } });
  });

  it('and without URL elicitation sees a working task', async () => {
    const server = await serving();
    const { taskId } = (await server.call(NAME, {}, { capabilities: TASKS })).result;
    const { result } = await server.rpc('tasks/get', { taskId }, { capabilities: TASKS });
    expect(result.status).toBe('working');
    expect(result).not.toHaveProperty('inputRequests');
  });

  it('cancels its own call with a declined link', async () => {
    const server = await serving();
    const sending = { capabilities: { ...URL_MODE, ...TASKS } };
    const { taskId } = (await server.call(NAME, {}, sending)).result;
    const inputResponses = { approval: { action: 'decline' } };
    await server.rpc('tasks/update', { taskId, inputResponses }, sending);
    expect((await server.rpc('tasks/get', { taskId }, sending)).result.status).toBe('cancelled');
  });
});

describe('a client with neither', () => {
  it('gets a receipt that names the page', async () => {
    const server = await serving({ mcp: { holdMs: 50 } });
    const { result } = await server.call(NAME);
    const { tool_call_id: id, inbox } = result.structuredContent;
    expect(result.structuredContent).toMatchObject({ status: 'pending', waits_for: 'approval' });
    expect(inbox).toBe(`${server.url}/ui/approvals?id=${id}`);
    expect(result.content[0].text).toContain(inbox);
  });

  it('gets no link from a server without pages', async () => {
    const server = await serving({ mcp: { holdMs: 50 }, hasPages: false });
    const { result } = await server.call(NAME, {}, { capabilities: URL_MODE });
    expect(result.structuredContent).toMatchObject({ status: 'pending', waits_for: 'approval' });
    expect(JSON.stringify(result)).not.toContain('/ui/');
  });
});
