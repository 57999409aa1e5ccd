import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, silentLog } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import type { Engine } from '../engine.ts';
import { failure, ToolFailure } from '../failures.ts';
import type { BoardEvent } from '../ledger/events.ts';
import type { Principal } from '../access/principal.ts';
import type { Prompt, Resource, ResourceSet } from './resource.ts';

const me = aPrincipal();
const PACK = { pack: 'notes' };

function aResource(uri: string, given: Partial<Resource> = {}): Resource {
  return { uri, name: uri, read: () => `contents of ${uri}`, ...given };
}

function aPrompt(name: string, given: Partial<Prompt> = {}): Prompt {
  return { name, get: () => 'hello', ...given };
}

function added(engine: Engine, set: ResourceSet, supply = PACK): void {
  expect(engine.resources.add(set, supply)).toBeNull();
}

function uris(engine: Engine, principal: Principal): readonly string[] {
  return engine.resources.list(principal, null, 100).items.map(({ uri }) => uri);
}

describe('the list of resources', () => {
  it('is ordered by URI, whatever the order of registration, and paged', async () => {
    const { engine } = await anEngine({});
    added(engine, { resources: ['n:c', 'n:a', 'n:d', 'n:b'].map((uri) => aResource(uri)) });
    const first = engine.resources.list(me, null, 3);
    expect([first.items.map(({ uri }) => uri), first.nextCursor]).toEqual([['n:a', 'n:b', 'n:c'], 'n:c']);
    const second = engine.resources.list(me, first.nextCursor, 3);
    expect([second.items.map(({ uri }) => uri), second.nextCursor]).toEqual([['n:d'], null]);
    // What was removed between two pages does not shift the next one.
    engine.resources.remove({ resources: ['n:a'] });
    expect(engine.resources.list(me, 'n:c', 3).items.map(({ uri }) => uri)).toEqual(['n:d']);
  });

  it('has a next page only if the principal sees something on it', async () => {
    const { engine } = await anEngine({});
    added(engine, { resources: [aResource('n:a'), aResource('n:b', { scope: 'keys:write' })] });
    expect(engine.resources.list(me, null, 1)).toMatchObject({ items: [{ uri: 'n:a' }], nextCursor: null });
  });
});

describe('what a principal may not see', () => {
  it('does not exist: of a pack that its tenant does not have', async () => {
    const { engine } = await anEngine({});
    engine.tenants.mustBeNamed('notes');
    engine.tenants.replace('acme', { sites: null, packs: ['notes'], limits: {} });
    added(engine, {
      resources: [aResource('n:a')],
      resourceTemplates: [{ uriTemplate: 'n:x/{id}', name: 'x', read: ({ id = '' }) => id }],
      prompts: [aPrompt('greet')],
    });
    const acme = aPrincipal({ tenant: 'acme' });
    expect([uris(engine, acme), uris(engine, me)]).toEqual([['n:a'], []]);
    for (const uri of ['n:a', 'n:x/1', 'n:unknown']) {
      const read = await engine.resources.read(me, uri);
      expect(read).toMatchObject({ ok: false, failure: { code: 'resource_not_found' } });
      if (!read.ok) expect(read.failure.message).toBe(`no resource has the URI ${uri}`);
    }
    expect(await engine.resources.read(acme, 'n:x/1')).toMatchObject({ ok: true });
    expect(engine.resources.prompts(me, null, 9).items).toEqual([]);
    expect(await engine.resources.prompt(me, 'greet', {})).toMatchObject({
      failure: { code: 'prompt_not_found' },
    });
    const of = { resourceTemplate: 'n:x/{id}' };
    expect(await engine.resources.complete(me, { of, name: 'id', value: '' })).toMatchObject({
      failure: { code: 'resource_not_found' },
    });
    expect(engine.resources.watch(me, 'n:a', () => {}).ok).toBe(false);
  });

  it('does not exist: of a scope that its credential does not have', async () => {
    const { engine } = await anEngine({});
    added(engine, { resources: [aResource('n:a'), aResource('n:b', { scope: 'policy:write' })] });
    const reader = aPrincipal({ scopes: new Set(['calls:read']) });
    const boss = aPrincipal({ scopes: new Set(['calls:read', 'policy:write']) });
    const caller = aPrincipal({ scopes: new Set(['tools:call']) });
    expect([uris(engine, reader), uris(engine, boss), uris(engine, caller)]).toEqual([
      ['n:a'],
      ['n:a', 'n:b'],
      [],
    ]);
    expect(await engine.resources.read(reader, 'n:b')).toMatchObject({ ok: false });
  });
});

describe('a read', () => {
  it('resolves type and URI of the contents, and leaves no record', async () => {
    const { engine, store } = await anEngine({});
    const contents = ['one', { text: 'two', uri: 'n:a/2', mimeType: 'text/plain' }, { blob: 'AAEC' }];
    added(engine, { resources: [aResource('n:a', { mimeType: 'text/markdown', read: () => contents })] });
    const before = await store.ledgerHead();
    expect(await engine.resources.read(me, 'n:a')).toEqual({
      ok: true,
      value: [
        { uri: 'n:a', mimeType: 'text/markdown', text: 'one' },
        { uri: 'n:a/2', mimeType: 'text/plain', text: 'two' },
        { uri: 'n:a', mimeType: 'text/markdown', blob: 'AAEC' },
      ],
    });
    expect(await store.ledgerHead()).toEqual(before);
  });

  it('passes the decoded variables to the template with the longest literal text', async () => {
    const { engine } = await anEngine({});
    added(engine, {
      resourceTemplates: [
        { uriTemplate: 'n:{page}', name: 'page', read: ({ page = '' }) => `page ${page}` },
        { uriTemplate: 'n:day-{day}', name: 'day', read: ({ day = '' }) => `day ${day}` },
      ],
    });
    const text = async (uri: string) => await engine.resources.read(me, uri);
    expect(await text('n:a%20b')).toMatchObject({ value: [{ uri: 'n:a%20b', text: 'page a b' }] });
    expect(await text('n:day-1')).toMatchObject({ value: [{ text: 'day 1' }] });
  });

  it.each([
    ['a number', 7],
    ['an object without text', {}],
    ['both text and blob', { text: 'a', blob: 'AAEC' }],
    ['a blob that is not base64', { blob: 'ä' }],
    ['a list with one of them', ['good', 7]],
  ])('fails if the pack returns %s', async (_what, value) => {
    const { engine } = await anEngine({});
    added(engine, { resources: [aResource('n:a', { read: () => value as string })] });
    expect(await engine.resources.read(me, 'n:a')).toMatchObject({
      failure: { code: 'resource_failed', reasons: [{ code: 'resource_contents_invalid' }] },
    });
  });

  it('fails with what the pack throws', async () => {
    const { engine } = await anEngine({ log: silentLog });
    const thrown = (error: Error) => () => Promise.reject(error);
    added(engine, {
      resources: [
        aResource('n:bug', { read: thrown(new Error('the file is gone')) }),
        aResource('n:own', { read: thrown(new ToolFailure(failure('upstream_unreachable'))) }),
        aResource('n:none', { read: () => null }),
      ],
    });
    const codeOf = async (uri: string) => await engine.resources.read(me, uri);
    expect(await codeOf('n:bug')).toMatchObject({
      failure: { code: 'resource_failed', message: 'the file is gone' },
    });
    expect(await codeOf('n:own')).toMatchObject({ failure: { code: 'upstream_unreachable' } });
    expect(await codeOf('n:none')).toMatchObject({ failure: { code: 'resource_not_found' } });
  });

  it('is limited in size', async () => {
    const { engine } = await anEngine({ limits: { resourceBytes: 4 } });
    const big = (uri: string, value: Resource['read']) => aResource(uri, { read: value });
    added(engine, {
      resources: [big('n:fits', () => 'four'), big('n:text', () => 'ää+'), big('n:two', () => ['abc', 'de'])],
      prompts: [aPrompt('long', { get: () => 'a'.repeat(10) })],
    });
    expect(await engine.resources.read(me, 'n:fits')).toMatchObject({ ok: true });
    const tooLarge = { failure: { code: 'result_too_large', reasons: [{ params: { bytes: 4 } }] } };
    expect(await engine.resources.read(me, 'n:text')).toMatchObject(tooLarge);
    expect(await engine.resources.read(me, 'n:two')).toMatchObject(tooLarge);
    expect(await engine.resources.prompt(me, 'long', {})).toMatchObject(tooLarge);
  });

  it('is limited in time, and its signal aborts', async () => {
    const { engine, clock } = await anEngine({ limits: { resourceTimeoutMs: 100 } });
    let seen: AbortSignal | null = null;
    const read: Resource['read'] = ({ signal }) => {
      seen = signal;
      return new Promise<never>(() => {});
    };
    added(engine, { resources: [aResource('n:slow', { read })] });
    const reading = engine.resources.read(me, 'n:slow');
    await settled();
    await clock.advance(101);
    expect(await reading).toMatchObject({ failure: { code: 'timeout', reasons: [{ params: { ms: 100 } }] } });
    expect(seen).toMatchObject({ aborted: true });
  });

  it('ends when the caller goes away', async () => {
    const { engine } = await anEngine({});
    added(engine, { resources: [aResource('n:slow', { read: () => new Promise<never>(() => {}) })] });
    const caller = new AbortController();
    const reading = engine.resources.read(me, 'n:slow', caller.signal);
    caller.abort();
    expect(await reading).toMatchObject({ failure: { code: 'cancelled' } });
  });

  it('is refused beyond the number that a tenant may run at once, and counts against the rate', async () => {
    const { engine } = await anEngine({
      limits: { concurrencyPerTenant: 1 },
      rates: { principal: { burst: 3, perSecond: 1 }, tenant: null, tool: null, tools: new Map() },
    });
    let finish = (_text: string): void => {};
    const read: Resource['read'] = () => new Promise((resolve) => (finish = resolve));
    added(engine, { resources: [aResource('n:slow', { read }), aResource('n:a')] });
    const agent = aPrincipal({ kind: 'agent', id: 'a' });
    const slow = engine.resources.read(agent, 'n:slow');
    expect(await engine.resources.read(agent, 'n:a')).toMatchObject({ failure: { code: 'overloaded' } });
    finish('done');
    expect(await slow).toMatchObject({ ok: true });
    expect(await engine.resources.read(agent, 'n:a')).toMatchObject({ ok: true });
    expect(await engine.resources.read(agent, 'n:a')).toMatchObject({ failure: { code: 'rate_limited' } });
  });
});

describe('a prompt', () => {
  it('returns messages for its arguments', async () => {
    const { engine } = await anEngine({});
    added(engine, {
      prompts: [
        aPrompt('greet', { arguments: [{ name: 'who' }], get: ({ who = 'you' }) => `hello ${who}` }),
        aPrompt('chat', {
          get: () => ({
            description: 'two messages',
            messages: [
              { role: 'user', content: { type: 'resource_link', uri: 'n:a', name: 'a' } },
              { role: 'assistant', content: 'yes' },
            ],
          }),
        }),
      ],
    });
    expect(await engine.resources.prompt(me, 'greet', { who: 'Ada' })).toEqual({
      ok: true,
      value: { messages: [{ role: 'user', content: { type: 'text', text: 'hello Ada' } }] },
    });
    expect(await engine.resources.prompt(me, 'chat', {})).toMatchObject({
      value: {
        description: 'two messages',
        messages: [
          { role: 'user', content: { type: 'resource_link' } },
          { role: 'assistant', content: { type: 'text', text: 'yes' } },
        ],
      },
    });
  });

  it('names the argument that is missing or unknown', async () => {
    const { engine } = await anEngine({});
    added(engine, { prompts: [aPrompt('greet', { arguments: [{ name: 'who', required: true }] })] });
    const issueOf = async (args: Record<string, string>) => await engine.resources.prompt(me, 'greet', args);
    expect(await issueOf({})).toMatchObject({
      failure: { code: 'input_invalid', issues: [{ path: '/arguments/who' }] },
    });
    expect(await issueOf({ who: 'a', whom: 'b' })).toMatchObject({
      failure: { message: 'there is no argument whom; accepted are: who' },
    });
    expect(await issueOf({ toString: 'a' })).toMatchObject({ failure: { code: 'input_invalid' } });
  });

  it.each([
    ['no messages', {}],
    ['an unknown role', { messages: [{ role: 'system', content: 'a' }] }],
    ['an unknown block', { messages: [{ role: 'user', content: { type: 'video' } }] }],
    [
      'an embedded resource without URI',
      { messages: [{ role: 'user', content: { type: 'resource', resource: { text: 'a' } } }] },
    ],
  ])('fails if the pack returns %s', async (_what, value) => {
    const { engine } = await anEngine({});
    added(engine, { prompts: [aPrompt('bad', { get: () => value as string })] });
    expect(await engine.resources.prompt(me, 'bad', {})).toMatchObject({
      failure: { code: 'resource_failed', reasons: [{ code: 'prompt_messages_invalid' }] },
    });
  });
});

describe('a completion', () => {
  it('suggests at most 100 values, each once, and gets the other arguments', async () => {
    const { engine } = await anEngine({});
    const many = Array.from({ length: 150 }, (_none, index) => `v${index}`);
    added(engine, {
      prompts: [
        aPrompt('p', {
          arguments: [
            { name: 'a', complete: () => [...many, ...many] },
            { name: 'b', complete: (value, context) => [`${context.arguments['a']}-${value}`] },
            { name: 'c' },
          ],
        }),
      ],
    });
    const complete = async (name: string, value = '') =>
      await engine.resources.complete(me, { of: { prompt: 'p' }, name, value, arguments: { a: 'x' } });
    expect(await complete('a')).toMatchObject({
      value: { values: many.slice(0, 100), total: 150, hasMore: true },
    });
    expect(await complete('b', 'y')).toMatchObject({ value: { values: ['x-y'], hasMore: false } });
    expect(await complete('c')).toMatchObject({ value: { values: [] } });
    expect(await complete('d')).toMatchObject({ failure: { code: 'input_invalid' } });
  });
});

describe('registration', () => {
  const read = () => '';
  it.each<[string, ResourceSet, string]>([
    ['no scheme', { resources: [aResource('notes')] }, 'name_invalid'],
    ['a blank in the URI', { resources: [aResource('n:a b')] }, 'name_invalid'],
    ['a URI that is too long', { resources: [aResource(`n:${'a'.repeat(2100)}`)] }, 'name_invalid'],
    ['braces in a URI', { resources: [aResource('n:{a}')] }, 'name_invalid'],
    ['the scheme of this server', { resources: [aResource('Patchboard://x')] }, 'name_taken'],
    [
      'a template without variable',
      { resourceTemplates: [{ uriTemplate: 'n:a', name: 'a', read }] },
      'name_invalid',
    ],
    [
      'a template of level 2',
      { resourceTemplates: [{ uriTemplate: 'n:{+a}', name: 'a', read }] },
      'name_invalid',
    ],
    [
      'a completer of no variable',
      { resourceTemplates: [{ uriTemplate: 'n:{a}', name: 'a', read, complete: { b: () => [] } }] },
      'schema_invalid',
    ],
    ['no read function', { resources: [{ uri: 'n:a', name: 'a' } as unknown as Resource] }, 'schema_invalid'],
    ['hidden characters', { resources: [aResource('n:a', { description: 'a\u202eb' })] }, 'schema_invalid'],
    ['a long description', { prompts: [aPrompt('p', { description: 'a'.repeat(9000) })] }, 'too_large'],
    ['a bad prompt name', { prompts: [aPrompt('p q')] }, 'name_invalid'],
    [
      'an argument twice',
      { prompts: [aPrompt('p', { arguments: [{ name: 'a' }, { name: 'a' }] })] },
      'name_taken',
    ],
    ['a URI twice', { resources: [aResource('n:a'), aResource('n:a')] }, 'name_taken'],
    [
      'more than a pack may have',
      { resources: ['n:a', 'n:b', 'n:c'].map((uri) => aResource(uri)) },
      'too_large',
    ],
  ])('refuses %s, and adds nothing', async (_what, set, code) => {
    const { engine } = await anEngine({ limits: { resourcesPerPack: 2 } });
    const good = {
      resources: [...(set.resources ?? [])],
      prompts: [...(set.prompts ?? []), aPrompt('good')],
    };
    expect(engine.resources.add({ ...set, ...good }, PACK)).toMatchObject({ code });
    expect(uris(engine, me)).toEqual([]);
    expect(engine.resources.prompts(me, null, 9).items).toEqual([]);
  });

  it('reserves a URI for all tenants', async () => {
    const { engine } = await anEngine({});
    added(engine, { resources: [aResource('n:a')] });
    expect(engine.resources.add({ resources: [aResource('n:a')] }, { pack: 'other' })).toMatchObject({
      code: 'name_taken',
    });
  });

  it('of an invalid pack throws', async () => {
    const { engine } = await anEngine({});
    expect(() => engine.addPack({ name: 'bad', tools: [], resources: [aResource('bad')] })).toThrow(
      /resource bad: a URI has a scheme/,
    );
  });
});

describe('change events', () => {
  function follow(engine: Engine, principal: Principal): BoardEvent[] {
    const events: BoardEvent[] = [];
    const reader = {
      next: (event: BoardEvent) => void events.push(event),
      ready: () => null,
      failed: () => {},
    };
    engine.feed.follow({ principal, callId: null }, 0, reader);
    return events;
  }

  const told = (events: readonly BoardEvent[]) =>
    events.map(({ type, data }) => {
      const { at: _at, ...rest } = data as { at: string };
      return [type, rest];
    });

  it('reach those who see what changed, and name only that', async () => {
    const { engine } = await anEngine({});
    engine.tenants.mustBeNamed('notes');
    engine.tenants.replace('acme', { sites: null, packs: ['notes'], limits: {} });
    const reader = aPrincipal({ tenant: 'acme', scopes: new Set(['calls:read']) });
    const [seen, others] = [follow(engine, reader), follow(engine, me)];
    added(engine, {
      resources: [aResource('n:a'), aResource('n:b', { scope: 'keys:write' })],
      resourceTemplates: [{ uriTemplate: 'n:x/{id}', name: 'x', read: () => '' }],
      prompts: [aPrompt('greet')],
    });
    engine.resources.notifyUpdated('n:a');
    engine.resources.notifyUpdated('n:b');
    engine.resources.notifyUpdated('n:x/1');
    engine.resources.remove({ resources: ['n:a', 'n:none'], prompts: ['greet'] });
    expect(told(seen)).toEqual([
      ['resources.changed', { added: ['n:a', 'n:x/{id}'] }],
      ['prompts.changed', { added: ['greet'] }],
      ['resources.changed', { updated: ['n:a'] }],
      ['resources.changed', { removed: ['n:a'] }],
      ['prompts.changed', { removed: ['greet'] }],
    ]);
    expect(told(others)).toEqual([]);
  });

  it('tell a tenant whose packs changed to list again', async () => {
    const { engine } = await anEngine({});
    const [seen, others] = [follow(engine, aPrincipal({ tenant: 'acme' })), follow(engine, me)];
    engine.tenants.replace('acme', { sites: null, packs: ['notes'], limits: {} });
    expect(told(seen)).toEqual([
      ['resources.changed', {}],
      ['prompts.changed', {}],
      ['registry.changed', {}],
    ]);
    expect(told(others)).toEqual([]);
  });
});

describe('a watcher', () => {
  it('is called for its URI until it stops, and not once the resource is gone', async () => {
    const { engine } = await anEngine({});
    added(engine, { resources: [aResource('n:a'), aResource('n:b')] });
    let calls = 0;
    const watch = () => {
      const watching = engine.resources.watch(me, 'n:a', () => (calls += 1));
      if (!watching.ok) throw new Error(watching.failure.message);
      return watching.value;
    };
    const stop = watch();
    engine.resources.notifyUpdated('n:b');
    engine.resources.notifyUpdated('n:a');
    expect(calls).toBe(1);
    stop();
    engine.resources.notifyUpdated('n:a');
    expect(calls).toBe(1);
    watch();
    engine.resources.remove({ resources: ['n:a'] });
    engine.resources.notifyUpdated('n:a');
    expect(calls).toBe(1);
  });
});
