import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputRequired } from '../../src/sdk/input-required.ts';
import { ResourceRegistry } from '../../src/sdk/resource-registry.ts';
import { aServerTool, manualTool } from '../support/an-engine.ts';
import { openSse } from '../http/support/sse-reader.ts';
import { aPlatform, recordOf, type MintedKey, type TestPlatform } from './support/a-platform.ts';
import type { TestResponse } from './support/ask.ts';

const registry = new ResourceRegistry({
  resources: [
    {
      uri: 'notes://today',
      name: 'today',
      title: 'Today',
      mimeType: 'text/markdown',
      size: 5,
      read: () => '# one',
    },
    { uri: 'notes://picture', name: 'picture', read: () => ({ blob: 'AAEC', mimeType: 'image/png' }) },
    { uri: 'notes://who', name: 'who', read: ({ principal }) => `${principal.tenant}/${principal.agentId}` },
  ],
  prompts: [
    {
      name: 'greet',
      description: 'Says hello.',
      arguments: [{ name: 'who', required: true, complete: () => ['Ada', 'Bob'] }],
      get: ({ who }) => (who === 'nobody' ? inputRequired({ message: 'Who?' }) : `hello ${who}`),
    },
  ],
});

const slow = manualTool('toy.slow');

let server: TestPlatform;
let ada: MintedKey;
let bob: MintedKey;
/** An agent of a tenant that has only the tools of the pack `essentials`. */
let stranger: MintedKey;
let reader: MintedKey;
let boss: MintedKey;

beforeAll(async () => {
  server = await aPlatform({
    tools: [aServerTool({ name: 'toy.echo' }), aServerTool({ name: 'toy.secret' }), slow.tool],
    resources: { resourceSource: registry },
    config: {
      tenants: { other: { packs: ['essentials'] } },
      policy: { default: { autoDenyTools: ['toy.secret'] } },
    },
  });
  ada = await server.mint({ kind: 'agent', name: 'ada' });
  bob = await server.mint({ kind: 'agent', name: 'bob' });
  reader = await server.mint({ kind: 'agent', name: 'reader', scopes: ['calls:read'] });
  boss = await server.mint({ kind: 'operator', name: 'boss' });
  stranger = await server.mint({ kind: 'agent', name: 'ada', tenant: 'other' });
});
afterAll(() => server.close());

async function get(key: MintedKey, path: string): Promise<TestResponse> {
  return await server.ask({ method: 'GET', path, headers: key.headers });
}

async function read(key: MintedKey, uri: string): Promise<TestResponse> {
  return await get(key, `/v1/resources/read?uri=${encodeURIComponent(uri)}`);
}

async function post(key: MintedKey, path: string, body: unknown): Promise<TestResponse> {
  return await server.ask({ method: 'POST', path, headers: key.headers, body });
}

function names(list: TestResponse, plural: string, member: string): unknown[] {
  return (list.json as Record<string, Record<string, unknown>[]>)[plural]!.map((row) => row[member]);
}

async function aCall(key: MintedKey): Promise<string> {
  const made = await server.ask({
    method: 'POST',
    path: '/v1/tools/toy.echo/invoke',
    headers: { ...key.headers, prefer: 'wait=5' },
    body: { run_id: 'run_a', args: { n: 1 } },
  });
  return (made.json as { tool_call_id: string }).tool_call_id;
}

describe('resources', () => {
  it('are listed with all that is known of them, page by page, for tenants that have the pack', async () => {
    const all = await get(ada, '/v1/resources');
    expect(all.json).toEqual({
      resources: [
        { uri: 'notes://picture', name: 'picture' },
        { uri: 'notes://today', name: 'today', title: 'Today', mime_type: 'text/markdown', size: 5 },
        { uri: 'notes://who', name: 'who' },
      ],
      next_cursor: null,
    });
    const first = await get(ada, '/v1/resources?limit=2');
    const { next_cursor: cursor } = first.json as { next_cursor: string };
    const second = await get(ada, `/v1/resources?limit=2&cursor=${encodeURIComponent(cursor)}`);
    expect([...names(first, 'resources', 'name'), ...names(second, 'resources', 'name')]).toEqual([
      'picture',
      'today',
      'who',
    ]);
    expect((await get(stranger, '/v1/resources')).json).toEqual({ resources: [], next_cursor: null });
  });

  it('are read as text or base64, with the identity of the reader, and without a record', async () => {
    const before = await recordOf(server.store);
    expect((await read(ada, 'notes://today')).json).toEqual({
      contents: [{ uri: 'notes://today', mime_type: 'text/markdown', text: '# one' }],
    });
    expect((await read(ada, 'notes://picture')).json).toEqual({
      contents: [{ uri: 'notes://picture', mime_type: 'image/png', blob: 'AAEC' }],
    });
    expect((await read(bob, 'notes://who')).json).toMatchObject({ contents: [{ text: 'default/bob' }] });
    expect(await recordOf(server.store)).toEqual(before);
  });

  it.each(['today', 'notes://a b', `notes://${'a'.repeat(2100)}`])(
    'are not read under what is no URI: %.20s',
    async (uri) => {
      const response = await read(ada, uri);
      expect([response.status, response.json.code]).toEqual([400, 'body_invalid']);
      expect(response.json.reasons).toEqual([{ code: 'resource_uri_invalid', params: { characters: 2048 } }]);
    },
  );

  it('of another tenant are not found, like unknown ones', async () => {
    const [theirs, unknown] = [await read(stranger, 'notes://today'), await read(stranger, 'notes://none')];
    expect([theirs.status, theirs.json.code]).toEqual([404, 'resource_not_found']);
    expect(theirs.text.replaceAll('today', '<id>')).toBe(unknown.text.replaceAll('none', '<id>'));
  });
});

describe('the record of a call as a resource', () => {
  it('is what GET /v1/tool_calls/:id returns, for those who may see the call', async () => {
    const id = await aCall(ada);
    const record = (await get(ada, `/v1/tool_calls/${id}`)).text;
    for (const key of [ada, boss]) {
      const response = await read(key, `patchboard://calls/${id}`);
      expect(response.json).toEqual({
        contents: [{ uri: `patchboard://calls/${id}`, mime_type: 'application/json', text: record }],
      });
    }
  });

  it('of another agent or tenant is not found, and its id is not suggested', async () => {
    const id = await aCall(ada);
    const unknown = 'tc_00000000000000000000000000';
    for (const key of [bob, stranger]) {
      const [theirs, none] = await Promise.all(
        [id, unknown].map((one) => read(key, `patchboard://calls/${one}`)),
      );
      expect(theirs!.status).toBe(404);
      expect(theirs!.text.replaceAll(id, '<id>')).toBe(none!.text.replaceAll(unknown, '<id>'));
    }
    const body = { uri_template: 'patchboard://calls/{tool_call_id}', name: 'tool_call_id', value: 'tc_' };
    expect((await post(ada, '/v1/complete', body)).json.values).toContain(id);
    expect((await post(bob, '/v1/complete', body)).json).toEqual({ values: [], total: 0, has_more: false });
  });

  it('is watched by those who may see it', async () => {
    const { engine } = server.platform;
    const principal = (name: string, tenant = 'default') => ({
      kind: 'agent' as const,
      id: name,
      tenant,
      scopes: new Set(['calls:read', 'tools:call'] as const),
      agentId: name,
      clientId: null,
      credential: null,
    });
    const made = await post(ada, '/v1/tools/toy.slow/invoke', { run_id: 'run_a', args: {} });
    const id = (made.json as { tool_call_id: string }).tool_call_id;
    const uri = `patchboard://calls/${id}`;
    const seen: string[] = [];
    const stops = [principal('ada'), principal('bob'), principal('ada', 'other')].map((one) => {
      const watching = engine.resources.watch(one, uri, () => seen.push(`${one.tenant}/${one.id}`));
      if (!watching.ok) throw new Error(watching.failure.message);
      return watching.value;
    });
    slow.running.get(id)!.resolve('done');
    const ended = await post(ada, `/v1/tool_calls/${id}/wait`, {});
    expect(ended.json.state).toBe('COMPLETED');
    expect(seen).toEqual(['default/ada']);
    for (const stop of stops) stop();
  });
});

describe('the contract of a tool as a resource', () => {
  it('is what GET /v1/tools/:name returns, under the policy', async () => {
    const contract = (await get(ada, '/v1/tools/toy.echo')).text;
    expect((await read(ada, 'patchboard://tools/toy.echo')).json.contents[0].text).toBe(contract);
    for (const uri of ['patchboard://tools/toy.secret', 'patchboard://tools/toy.none'])
      expect((await read(ada, uri)).json).toMatchObject({ code: 'resource_not_found' });
    expect((await read(stranger, 'patchboard://tools/toy.echo')).status).toBe(404);
    const body = { uri_template: 'patchboard://tools/{name}', name: 'name', value: 'toy.' };
    expect((await post(ada, '/v1/complete', body)).json.values).toEqual(['toy.echo', 'toy.slow']);
  });

  it('does not exist for a credential that may not list tools', async () => {
    expect((await get(reader, '/v1/tools/toy.echo')).status).toBe(403);
    expect((await read(reader, 'patchboard://tools/toy.echo')).status).toBe(404);
    const templates = await get(reader, '/v1/resources/templates');
    expect(names(templates, 'resource_templates', 'uri_template')).toEqual([
      'patchboard://calls/{tool_call_id}',
    ]);
    expect(names(await get(reader, '/v1/prompts'), 'prompts', 'name')).toEqual(['greet']);
  });
});

describe('prompts', () => {
  it('are listed with their arguments, for tenants that have the pack', async () => {
    const list = await get(ada, '/v1/prompts');
    expect(list.json.prompts[0]).toEqual({
      name: 'greet',
      description: 'Says hello.',
      arguments: [{ name: 'who', required: true }],
    });
    expect(names(list, 'prompts', 'name')).toEqual(['greet', 'tools_as_text']);
    expect(names(await get(stranger, '/v1/prompts'), 'prompts', 'name')).toEqual(['tools_as_text']);
  });

  it('become messages, or name the argument that is wrong', async () => {
    expect((await post(ada, '/v1/prompts/greet', { arguments: { who: 'Ada' } })).json).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'hello Ada' } }],
    });
    const missing = await post(ada, '/v1/prompts/greet', {});
    expect([missing.status, missing.json.errors[0].path]).toEqual([422, '/arguments/who']);
    expect((await post(ada, '/v1/prompts/greet', { arguments: { who: 1 } })).status).toBe(400);
    expect((await post(stranger, '/v1/prompts/greet', { arguments: { who: 'x' } })).json.code).toBe(
      'prompt_not_found',
    );
    const asking = await post(ada, '/v1/prompts/greet', { arguments: { who: 'nobody' } });
    expect([asking.status, asking.json.reasons]).toEqual([
      409,
      [{ code: 'input_caller_cannot', params: { tool: 'greet', kind: 'form' } }],
    ]);
    const body = { prompt: 'greet', name: 'who', value: '' };
    expect((await post(ada, '/v1/complete', body)).json.values).toEqual(['Ada', 'Bob']);
    expect((await post(ada, '/v1/complete', { ...body, uri_template: 'a:{b}' })).status).toBe(400);
  });

  it('include the tools as text, as POST /v1/prompt writes them, for the tools that the agent may call', async () => {
    const config = { enabled: true, defaultToolEnabled: true };
    const { prompt } = (await post(ada, '/v1/prompt', { config })).json as { prompt: string };
    const made = await post(ada, '/v1/prompts/tools_as_text', {});
    expect(made.json.messages).toEqual([{ role: 'user', content: { type: 'text', text: prompt } }]);
    expect(prompt).toContain('toy.echo');
    expect(prompt).not.toContain('toy.secret');
    const wrong = await post(ada, '/v1/prompts/tools_as_text', { arguments: { protocol: 'x' } });
    expect([wrong.status, wrong.json.reasons[0].code]).toEqual([422, 'prompt_argument_not_one_of']);
    const short = await post(ada, '/v1/prompts/tools_as_text', { arguments: { budget: '0' } });
    expect([short.status, short.json.reasons[0].code]).toEqual([422, 'prompt_argument_not_number']);
  });
});

describe('change events', () => {
  it('reach the streams of those who see the change, and no others', async () => {
    const url = `${server.platform.url}/v1/events`;
    const [seen, hidden] = await Promise.all([openSse(url, ada.headers), openSse(url, stranger.headers)]);
    registry.addResource({ uri: 'notes://new', name: 'new', read: () => 'new' });
    const added = await seen.next();
    expect([added?.event, added?.id]).toEqual(['resources.changed', null]);
    expect(JSON.parse(added!.data)).toMatchObject({ added: ['notes://new'] });
    registry.updated('notes://new');
    expect(JSON.parse((await seen.next())!.data)).toMatchObject({ updated: ['notes://new'] });
    registry.remove({ resources: ['notes://new'], prompts: ['greet'] });
    expect(JSON.parse((await seen.next())!.data)).toMatchObject({ removed: ['notes://new'] });
    expect(await seen.next()).toMatchObject({ event: 'prompts.changed' });
    expect((await read(ada, 'notes://new')).status).toBe(404);
    // The first that the other tenant gets is a change of its own.
    await server.asOperator('PUT', '/v1/tenants/other', { packs: ['guarded'] });
    const own = await hidden.next();
    expect(own?.event).toBe('resources.changed');
    expect(Object.keys(JSON.parse(own!.data) as object)).toEqual(['at']);
    expect((await read(stranger, 'notes://today')).status).toBe(200);
    seen.close();
    hidden.close();
  });
});
