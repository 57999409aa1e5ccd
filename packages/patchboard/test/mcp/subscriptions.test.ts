import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ResourceRegistry } from '../../src/sdk/resource-registry.ts';
import { callId } from '../devices/support/agent.ts';
import { aPlatform, type MintedKey, type TestPlatform } from '../guard/support/a-platform.ts';
import { aServerTool, manualTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { eraClient, TASKS, type EraClient, type Listening } from './support/era-client.ts';

const SUBSCRIPTION = { 'io.modelcontextprotocol/subscriptionId': 7 };
const LISTS = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

const registry = new ResourceRegistry({
  resources: [{ uri: 'notes://today', name: 'today', read: () => 'now' }],
});
const slow = manualTool('toy.slow');

let server: TestPlatform;
let ada: MintedKey;
let bob: MintedKey;
let stranger: MintedKey;
let client: EraClient;

beforeAll(async () => {
  server = await aPlatform({
    tools: [slow.tool, aServerTool({ name: 'toy.delete', annotations: { destructive: true } })],
    resources: { resourceSource: registry },
    config: { tenants: { other: { packs: ['essentials'] } } },
  });
  ada = await server.mint({ kind: 'agent', name: 'ada' });
  bob = await server.mint({ kind: 'agent', name: 'bob' });
  stranger = await server.mint({ kind: 'agent', name: 'ada', tenant: 'other' });
  client = await eraClient(server.platform.url, 'modern', ada.headers);
});
afterAll(() => server.close());

const open = new Set<Listening>();
let listenersBefore = 0;
const listeners = (): number => server.platform.engine.feed.listenerCount;

beforeEach(() => {
  listenersBefore = listeners();
});
// Every test shows that nothing listens on once its streams are closed.
afterEach(async () => {
  for (const stream of open) stream.close();
  open.clear();
  await waitFor(() => expect(listeners()).toBe(listenersBefore));
});

/** Opens a stream and reads its acknowledgement. */
async function listen(
  notifications: object,
  as: EraClient = client,
  capabilities: Readonly<Record<string, unknown>> = TASKS,
): Promise<{ stream: Listening; honoured: unknown }> {
  const stream = await as.listen(notifications, capabilities);
  open.add(stream);
  const first = await stream.next();
  expect(first).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: SUBSCRIPTION },
  });
  return { stream, honoured: first!.params.notifications };
}

const other = async (key: MintedKey): Promise<EraClient> =>
  await eraClient(server.platform.url, 'modern', key.headers);

async function register(key: MintedKey, ...names: string[]): Promise<void> {
  const { status } = await server.ask({
    method: 'POST',
    path: '/internal/tools/register',
    headers: key.headers,
    body: { client_id: 'phone', tools: names.map((name) => ({ name, schema: {} })) },
  });
  expect(status).toBe(200);
}

async function invoke({ headers }: MintedKey, tool: string): Promise<string> {
  return await callId(server, tool, { run: 'run_a', headers });
}

describe('the acknowledgement', () => {
  it('is the first message, and names what is honoured', async () => {
    const { stream, honoured } = await listen({
      toolsListChanged: true,
      promptsListChanged: false,
      resourceSubscriptions: ['notes://today', 'notes://gone', 'no uri'],
      taskIds: ['call_gone'],
      unknown: true,
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(honoured).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['notes://today'],
      taskIds: [],
    });
  });

  it.each([
    ['nothing', {}, undefined],
    ['no object', { notifications: 'all' }, undefined],
    ['tasks that are no list', { notifications: { taskIds: 'x' } }, undefined],
    ['tasks that are no strings', { notifications: { taskIds: [5] } }, undefined],
    ['URIs that are no strings', { notifications: { resourceSubscriptions: [{}] } }, undefined],
    [
      'too many tasks',
      { notifications: { taskIds: Array.from({ length: 101 }, (_, n) => `call_${n}`) } },
      'notifications.taskIds has more than 100 entries',
    ],
    [
      'too many URIs',
      { notifications: { resourceSubscriptions: Array.from({ length: 101 }, (_, n) => `notes://${n}`) } },
      'notifications.resourceSubscriptions has more than 100 entries',
    ],
  ])('is not sent to a request for %s', async (_what, params, message) => {
    const { status, error } = await client.request('subscriptions/listen', params, TASKS);
    expect([status, error.code]).toEqual([200, -32_602]);
    if (message !== undefined) expect(error.message).toBe(message);
  });

  it('is not sent to a client that wants tasks and does not support them', async () => {
    const { status, error } = await client.request('subscriptions/listen', {
      notifications: { taskIds: ['x'] },
    });
    expect([status, error.code]).toEqual([400, -32_021]);
  });
});

describe('changes of lists', () => {
  it('of tools that a client registers reach its tenant only', async () => {
    const { stream } = await listen(LISTS);
    const { stream: elsewhere } = await listen(LISTS, await other(stranger));
    const lender = await server.mint({ kind: 'client', name: 'phone' });
    // Several changes within the interval become one notification.
    for (const name of ['lent.one', 'lent.two', 'lent.three']) await register(lender, name);
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: SUBSCRIPTION },
    });
    const { result } = await client.request('tools/list');
    expect(JSON.stringify(result)).toContain('lent__one');
    // The first that the other tenant gets is a change of its own.
    await server.asOperator('PUT', '/v1/tenants/other', { packs: ['guarded'] });
    const methods = [await elsewhere.next(), await elsewhere.next(), await elsewhere.next()].map(
      (message) => message?.method ?? '',
    );
    expect(methods.toSorted()).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/tools/list_changed',
    ]);
    await server.asOperator('PUT', '/v1/tenants/other', { packs: ['essentials'] });
  });

  it('of tools by the policy are notified, and no kind that was not requested', async () => {
    const { stream } = await listen({ toolsListChanged: true });
    registry.addResource({ uri: 'notes://policy', name: 'policy', read: () => '' });
    registry.remove({ resources: ['notes://policy'] });
    const before = await client.request('tools/list');
    expect(JSON.stringify(before.result)).toContain('toy__slow');
    await server.asOperator('PUT', '/v1/policy', { document: { default: { autoDenyTools: ['toy.slow'] } } });
    expect((await stream.next())?.method).toBe('notifications/tools/list_changed');
    expect(JSON.stringify((await client.request('tools/list')).result)).not.toContain('toy__slow');
    await server.asOperator('PUT', '/v1/policy', { document: {} });
    expect((await stream.next())?.method).toBe('notifications/tools/list_changed');
  });

  it('of server tools reach every tenant that has their pack', async () => {
    const another = await server.mint({ kind: 'agent', name: 'eve', tenant: 'third' });
    const { stream } = await listen({ toolsListChanged: true }, await other(another));
    const { serverTools } = server.platform.engine;
    serverTools.add(aServerTool({ name: 'toy.new' }));
    expect((await stream.next())?.method).toBe('notifications/tools/list_changed');
    serverTools.remove(['toy.new']);
    expect((await stream.next())?.method).toBe('notifications/tools/list_changed');
  });

  it('of resources and prompts are notified; new contents are no change of the list', async () => {
    const { stream } = await listen(LISTS);
    registry.updated('notes://today');
    registry.addResource({ uri: 'notes://more', name: 'more', read: () => '' });
    expect((await stream.next())?.method).toBe('notifications/resources/list_changed');
    registry.remove({ resources: ['notes://more'] });
    expect((await stream.next())?.method).toBe('notifications/resources/list_changed');
    registry.updated('notes://today');
    registry.addPrompt({ name: 'more', get: () => 'more' });
    expect((await stream.next())?.method).toBe('notifications/prompts/list_changed');
    registry.remove({ prompts: ['more'] });
    expect((await stream.next())?.method).toBe('notifications/prompts/list_changed');
  });
});

describe('changes of a resource', () => {
  it('are notified to those who see it', async () => {
    const uri = 'notes://today';
    const { stream } = await listen({ resourceSubscriptions: [uri] });
    const { honoured } = await listen({ resourceSubscriptions: [uri] }, await other(stranger));
    expect(honoured).toEqual({ resourceSubscriptions: [] });
    registry.updated(uri);
    registry.updated(uri);
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { _meta: SUBSCRIPTION, uri },
    });
  });

  it('that is the record of a call are notified to those who may see the call', async () => {
    const id = await invoke(ada, 'toy.delete');
    const uri = `patchboard://calls/${id}`;
    const { stream: hers } = await listen({ resourceSubscriptions: [uri] });
    const { stream: his } = await listen({ resourceSubscriptions: [uri, 'notes://today'] }, await other(bob));
    await server.ask({ method: 'POST', path: `/v1/tool_calls/${id}/cancel`, headers: ada.headers });
    expect(await hers.next()).toMatchObject({ method: 'notifications/resources/updated', params: { uri } });
    registry.updated('notes://today');
    expect(await his.next()).toMatchObject({ params: { uri: 'notes://today' } });
  });
});

describe('tasks', () => {
  it('of calls made over HTTP are notified with every move, and their end once', async () => {
    const id = await invoke(ada, 'toy.slow');
    const hidden = await invoke(bob, 'toy.slow');
    const { stream, honoured } = await listen({ taskIds: [id, hidden, id], promptsListChanged: true });
    expect(honoured).toEqual({ taskIds: [id], promptsListChanged: true });
    await waitFor(() => expect([...slow.running.keys()]).toEqual(expect.arrayContaining([id, hidden])));
    for (const { resolve } of slow.running.values()) resolve({ done: true });
    const statuses: string[] = [];
    for (;;) {
      const message = await stream.next();
      expect(message).toMatchObject({
        method: 'notifications/tasks',
        params: { _meta: SUBSCRIPTION, taskId: id },
      });
      statuses.push(message!.params.status as string);
      if (message!.params.status !== 'working') {
        expect(message!.params.result).toMatchObject({
          resultType: 'complete',
          structuredContent: { done: true },
        });
        break;
      }
    }
    expect(statuses.at(-1)).toBe('completed');
    // Nothing more of the ended task: the next message is a change of a list.
    registry.addPrompt({ name: 'after', get: () => 'after' });
    expect((await stream.next())?.method).toBe('notifications/prompts/list_changed');
    registry.remove({ prompts: ['after'] });
  });

  it('that had ended before are notified once', async () => {
    const id = await invoke(ada, 'toy.delete');
    await server.ask({ method: 'POST', path: `/v1/tool_calls/${id}/cancel`, headers: ada.headers });
    const { stream } = await listen({ taskIds: [id] });
    expect((await stream.next())?.params).toMatchObject({ taskId: id, status: 'cancelled' });
  });
});

describe('a stream', () => {
  it('ends with a result when its credential is revoked', async () => {
    const key = await server.mint({ kind: 'agent', name: 'ada' });
    const { stream } = await listen({ toolsListChanged: true }, await other(key));
    await server.asOperator('DELETE', `/v1/keys/${key.id}`);
    expect(await stream.next()).toMatchObject({
      id: 7,
      result: { resultType: 'complete', _meta: SUBSCRIPTION },
    });
    expect(await stream.next()).toBeNull();
  });

  it('ends with a result when the server closes', async () => {
    const closing = await aPlatform();
    const stream = await (await eraClient(closing.platform.url, 'modern')).listen(LISTS);
    await stream.next();
    const closed = closing.close();
    expect(await stream.next()).toMatchObject({ id: 7, result: { _meta: SUBSCRIPTION } });
    expect(await stream.next()).toBeNull();
    await closed;
  });

  it('leaves no listener behind, however many there were; beyond the limit it is refused', async () => {
    const before = listeners();
    const one = await other(await server.mint({ kind: 'agent', name: 'one' }));
    const id = await invoke(ada, 'toy.delete');
    const wanted = { ...LISTS, resourceSubscriptions: [`patchboard://calls/${id}`], taskIds: [id] };
    await Promise.all(Array.from({ length: 100 }, async () => await listen(wanted, one)));
    // The lists of all have one listener.
    expect(listeners()).toBe(before + 100 + 1);
    const more = await one.request('subscriptions/listen', { notifications: LISTS });
    expect([more.status, more.error.code, more.error.data.code]).toEqual([429, -32_603, 'rate_limited']);
    for (const stream of open) stream.close();
    await waitFor(() => expect(listeners()).toBe(before));
  });

  it('needs a client that accepts event streams', async () => {
    const { status } = await server.ask({
      method: 'POST',
      path: '/mcp',
      headers: {
        ...ada.headers,
        accept: 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: {
          notifications: LISTS,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    });
    expect(status).toBe(406);
  });
});
