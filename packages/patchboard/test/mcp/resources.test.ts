import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResourceRegistry } from '../../src/sdk/resource-registry.ts';
import { aPlatform, recordOf, type MintedKey, type TestPlatform } from '../guard/support/a-platform.ts';
import { aServerTool } from '../support/an-engine.ts';
import { eraClient, ERAS, type EraClient } from './support/era-client.ts';

const MANY = 600;

const registry = new ResourceRegistry({
  resources: [
    {
      uri: 'notes://today',
      name: 'today',
      title: 'Today',
      description: 'What is on.',
      mimeType: 'text/markdown',
      size: 5,
      annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-11-01T00:00:00Z' },
      read: () => '# one',
    },
    { uri: 'notes://picture', name: 'picture', read: () => ({ blob: 'AAEC', mimeType: 'image/png' }) },
    { uri: 'notes://bad', name: 'bad', read: () => Promise.reject(new Error('the shelf is empty')) },
  ],
  resourceTemplates: [
    {
      uriTemplate: 'notes://{folder}/{page}',
      name: 'page',
      read: ({ folder, page }) => (folder === 'none' ? null : `${folder}, ${page}`),
      complete: { page: (value, { arguments: { folder = '?' } }) => [`${folder}-${value}`] },
    },
  ],
  prompts: [
    {
      name: 'greet',
      title: 'Greeting',
      description: 'Says hello.',
      arguments: [
        {
          name: 'who',
          required: true,
          complete: (value) => Array.from({ length: 150 }, (_, n) => `${value}${n}`),
        },
      ],
      get: ({ who }) => ({
        description: 'a greeting',
        messages: [{ role: 'user', content: `hello ${who}` }],
      }),
    },
  ],
});

let server: TestPlatform;
let ada: MintedKey;
let bob: MintedKey;
let stranger: MintedKey;
/** May call tools, and nothing else. */
let caller: MintedKey;

beforeAll(async () => {
  server = await aPlatform({
    tools: [aServerTool({ name: 'toy.echo' })],
    resources: { resourceSource: registry },
    config: { tenants: { other: { packs: ['essentials'] } } },
  });
  ada = await server.mint({ kind: 'agent', name: 'ada' });
  bob = await server.mint({ kind: 'agent', name: 'bob' });
  caller = await server.mint({ kind: 'agent', name: 'ada', scopes: ['tools:call'] });
  stranger = await server.mint({ kind: 'agent', name: 'ada', tenant: 'other' });
});
afterAll(() => server.close());

async function aCall(key: MintedKey): Promise<string> {
  const made = await server.ask({
    method: 'POST',
    path: '/v1/tools/toy.echo/invoke',
    headers: { ...key.headers, prefer: 'wait=5' },
    body: { run_id: 'run_a', args: { n: 1 } },
  });
  return (made.json as { tool_call_id: string }).tool_call_id;
}

describe.each(ERAS)('%s', (era) => {
  const as = async (key: MintedKey): Promise<EraClient> =>
    await eraClient(server.platform.url, era, key.headers);
  let client: EraClient;
  beforeAll(async () => {
    client = await as(ada);
  });

  const isModern = era === 'modern';
  const ofEra = (ttlMs?: number): object =>
    isModern
      ? {
          resultType: 'complete',
          ...(ttlMs === undefined ? {} : { ttlMs, cacheScope: 'private' }),
          _meta: { 'io.modelcontextprotocol/serverInfo': expect.objectContaining({ name: 'patchboard' }) },
        }
      : {};
  const notFound = isModern ? -32_602 : -32_002;

  it('lists resources with all that is known of them', async () => {
    expect((await client.request('resources/list')).result).toEqual({
      resources: [
        { uri: 'notes://bad', name: 'bad' },
        { uri: 'notes://picture', name: 'picture' },
        {
          uri: 'notes://today',
          name: 'today',
          title: 'Today',
          description: 'What is on.',
          mimeType: 'text/markdown',
          size: 5,
          annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-11-01T00:00:00Z' },
        },
      ],
      ...ofEra(30_000),
    });
    expect((await (await as(stranger)).request('resources/list')).result.resources).toEqual([]);
    expect((await (await as(caller)).request('resources/list')).result.resources).toEqual([]);
  });

  it('lists resource templates, each to those who have its scope', async () => {
    const { result } = await client.request('resources/templates/list');
    expect(result).toMatchObject(ofEra(30_000));
    const templates = result.resourceTemplates as { uriTemplate: string }[];
    expect(templates).toContainEqual({ uriTemplate: 'notes://{folder}/{page}', name: 'page' });
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain('patchboard://calls/{tool_call_id}');
    const few = (await (await as(caller)).request('resources/templates/list')).result.resourceTemplates;
    expect(few).toMatchObject([{ uriTemplate: 'patchboard://tools/{name}' }]);
  });

  it('reads text and bytes, and records nothing', async () => {
    const before = await recordOf(server.store);
    expect((await client.request('resources/read', { uri: 'notes://today' })).result).toEqual({
      contents: [{ uri: 'notes://today', mimeType: 'text/markdown', text: '# one' }],
      ...ofEra(0),
    });
    const picture = await client.request('resources/read', { uri: 'notes://picture' });
    expect(picture.result.contents).toEqual([
      { uri: 'notes://picture', mimeType: 'image/png', blob: 'AAEC' },
    ]);
    const page = await client.request('resources/read', { uri: 'notes://a/b' });
    expect(page.result.contents).toEqual([{ uri: 'notes://a/b', text: 'a, b' }]);
    expect(await recordOf(server.store)).toEqual(before);
  });

  it.each(['notes://none/b', 'notes://gone', 'no uri', '__proto__', 'patchboard://calls/call_gone'])(
    'has no resource %s',
    async (uri) => {
      const { status, error } = await client.request('resources/read', { uri });
      expect([status, error.code]).toEqual([200, notFound]);
      expect(error.data).toMatchObject({ uri, code: 'resource_not_found' });
    },
  );

  it('shows the record of a call to those who may see the call, with the scope to read calls', async () => {
    const id = await aCall(ada);
    const uri = `patchboard://calls/${id}`;
    const mine = (await client.request('resources/read', { uri })).result.contents[0];
    expect(JSON.parse(mine.text as string)).toMatchObject({ tool_call_id: id, state: 'COMPLETED' });
    for (const key of [bob, stranger, caller]) {
      const { error } = await (await as(key)).request('resources/read', { uri });
      expect(error).toMatchObject({ code: notFound, data: { uri, code: 'resource_not_found' } });
    }
    const tool = await (await as(caller)).request('resources/read', { uri: 'patchboard://tools/toy.echo' });
    expect(JSON.parse(tool.result.contents[0].text as string)).toMatchObject({ name: 'toy.echo' });
  });

  it('reports a failed read as an error of the server', async () => {
    const { status, error } = await client.request('resources/read', { uri: 'notes://bad' });
    expect([status, error.code]).toEqual([200, -32_603]);
    expect(error.data).toMatchObject({ code: 'resource_failed' });
  });

  it('lists prompts', async () => {
    const { result } = await client.request('prompts/list');
    expect(result).toMatchObject(ofEra(30_000));
    expect(result.prompts[0]).toEqual({
      name: 'greet',
      title: 'Greeting',
      description: 'Says hello.',
      arguments: [{ name: 'who', required: true }],
    });
    const names = (await (await as(caller)).request('prompts/list')).result.prompts as { name: string }[];
    expect(names.map(({ name }) => name)).toEqual(['tools_as_text']);
  });

  it('returns the messages of a prompt', async () => {
    const { result } = await client.request('prompts/get', { name: 'greet', arguments: { who: 'Ada' } });
    expect(result).toEqual({
      description: 'a greeting',
      messages: [{ role: 'user', content: { type: 'text', text: 'hello Ada' } }],
      ...ofEra(),
    });
  });

  it.each([
    ['an unknown prompt', { name: 'nothing' }, 'prompt_not_found'],
    ['a missing argument', { name: 'greet' }, 'input_invalid'],
    ['an unknown argument', { name: 'greet', arguments: { who: 'a', whom: 'b' } }, 'input_invalid'],
  ])('refuses %s', async (_what, params, code) => {
    const { status, error } = await client.request('prompts/get', params);
    expect([status, error.code, error.data.code]).toEqual([200, -32_602, code]);
  });

  it('completes arguments of prompts and variables of templates', async () => {
    const ofPrompt = await client.request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: 'x' },
    });
    expect(ofPrompt.result.completion.values).toHaveLength(100);
    expect(ofPrompt.result).toMatchObject({ completion: { total: 150, hasMore: true }, ...ofEra() });
    const ofTemplate = await client.request('completion/complete', {
      ref: { type: 'ref/resource', uri: 'notes://{folder}/{page}' },
      argument: { name: 'page', value: 'b' },
      context: { arguments: { folder: 'a' } },
    });
    expect(ofTemplate.result.completion).toEqual({ values: ['a-b'], total: 1, hasMore: false });
  });

  it('completes the ids of calls that the principal may see', async () => {
    const id = await aCall(bob);
    const ask = async (key: MintedKey): Promise<string[]> => {
      const { result } = await (
        await as(key)
      ).request('completion/complete', {
        ref: { type: 'ref/resource', uri: 'patchboard://calls/{tool_call_id}' },
        argument: { name: 'tool_call_id', value: '' },
      });
      return result.completion.values as string[];
    };
    expect(await ask(bob)).toContain(id);
    expect(await ask(ada)).not.toContain(id);
  });

  it.each([
    ['resources/list', { cursor: 5 }],
    ['resources/list', { cursor: '' }],
    ['resources/list', { cursor: 'bm90ZXM6Ly90b2RheQ' }],
    ['prompts/list', { cursor: Buffer.from('resources/list\nnotes://today').toString('base64url') }],
    ['tools/list', { cursor: 'x'.repeat(20_000) }],
    ['resources/read', {}],
    ['resources/read', { uri: 5 }],
    ['prompts/get', { name: 'greet', arguments: { who: 5 } }],
    ['prompts/get', { name: 'greet', arguments: [] }],
    ['completion/complete', { ref: { type: 'ref/other' }, argument: { name: 'a', value: 'b' } }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'no' }, argument: { name: 'a', value: '' } }],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'x:{y}' }, argument: { name: 'y', value: '' } },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'a', value: '' } },
    ],
  ])('refuses %s %j', async (method, params) => {
    const { status, error } = await client.request(method, params);
    expect([status, error.code]).toEqual([200, -32_602]);
  });

  it('lists many resources in pages that stay complete while resources come and go', async () => {
    const uris = Array.from({ length: MANY }, (_, n) => `many://${era}/${String(n).padStart(4, '0')}`);
    const many = (uri: string): Parameters<ResourceRegistry['addResource']>[0] => ({
      uri,
      name: 'one of many',
      read: () => '',
    });
    for (const uri of uris) registry.addResource(many(uri));
    try {
      const pages = await client.pages('resources/list');
      const seen = pages.flatMap(({ result }) =>
        (result.resources as { uri: string }[]).map(({ uri }) => uri),
      );
      expect(pages.map(({ result }) => result.resources.length)).toEqual([250, 250, MANY + 3 - 500]);
      expect(seen.filter((uri) => uri.startsWith('many:'))).toEqual(uris);
      expect((await client.pages('resources/list')).map(({ text }) => text)).toEqual(
        pages.map(({ text }) => text),
      );
      // The last entry of the first page goes; the second page begins after its place.
      registry.remove({ resources: [uris[249]!] });
      const { cursor } = { cursor: pages[0]!.result.nextCursor as string };
      const next = await client.request('resources/list', { cursor });
      expect(next.result.resources[0].uri).toBe(uris[250]);
    } finally {
      registry.remove({ resources: uris });
    }
  });
});
