import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import { accepted, aPrincipal, aRequest } from '../../../test/support/an-engine.ts';
import { resultOf } from '../../../test/support/an-openapi-caller.ts';
import { anOpenApiUpstream } from '../../../test/support/an-openapi-upstream.ts';
import { aDescribedApi, type DescribedApi } from '../../../test/support/described-api.ts';
import { waitFor } from '../../../test/support/wait-for.ts';

const ITEM = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
const DESCRIPTION = {
  openapi: '3.1.0',
  info: { title: 'The shop', version: '2.5' },
  paths: {
    '/items/{id}': {
      get: {
        operationId: 'getItem',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        responses: { 200: { description: 'ok', content: { 'application/json': { schema: ITEM } } } },
      },
    },
    '/items': {
      post: {
        operationId: 'addItem',
        requestBody: { required: true, content: { 'application/json': { schema: ITEM } } },
        responses: { 201: { description: 'made', content: { 'application/json': { schema: ITEM } } } },
      },
    },
  },
};
const TEN_MINUTES = 600_000;

const urlOf = ({ origin }: DescribedApi) => ({ kind: 'url', url: `${origin}/openapi.json` }) as const;

function described(changes: object): typeof DESCRIPTION {
  return { ...DESCRIPTION, ...changes };
}

describe('an HTTP API', () => {
  it('offers its operations as tools that are called over HTTP', async () => {
    const api = await aDescribedApi(DESCRIPTION);
    const { becomes, call, engine, upstream } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('connected');
    expect(engine.toolIndex.list('default').map(({ name }) => name)).toEqual([
      'shop.addItem',
      'shop.getItem',
    ]);
    expect(resultOf(await call('shop.getItem', { id: 7 }))).toEqual({ id: 1 });
    expect(resultOf(await call('shop.addItem', { body: { id: 8 } }))).toEqual({ id: 1 });
    const [get, post] = api.requests.filter(({ path }) => path !== '/openapi.json');
    expect(get).toMatchObject({ method: 'GET', path: '/items/7' });
    expect(post).toMatchObject({ method: 'POST', path: '/items', body: '{"id":8}' });
    expect(upstream.status()).toMatchObject({
      state: 'connected',
      protocol: 'OpenAPI 3.1.0',
      server: { name: 'The shop', version: '2.5' },
      address: api.origin,
      lastError: null,
      inFlight: 0,
      latencyMs: { median: expect.any(Number) as number },
    });
  });

  it('is read again every ten minutes, and listed again only if it changed', async () => {
    const api = await aDescribedApi(DESCRIPTION);
    const { becomes, clock, engine } = await anOpenApiUpstream({ description: urlOf(api), onChange: 'run' });
    await becomes('connected');
    const before = engine.toolIndex.find('default', 'shop.getItem');
    await clock.advance(TEN_MINUTES);
    await waitFor(() => expect(api.requests).toHaveLength(2));
    expect(api.requests[1]?.headers).toHaveProperty('if-none-match');
    expect(engine.toolIndex.find('default', 'shop.getItem')).toBe(before);
    const { '/items': _removed, ...paths } = DESCRIPTION.paths;
    api.description = JSON.stringify(described({ paths }));
    await waitFor(async () => {
      await clock.advance(TEN_MINUTES);
      expect(engine.tool(aPrincipal(), 'shop.addItem')).toBeUndefined();
    });
    expect(engine.tool(aPrincipal(), 'shop.getItem')).toBeDefined();
  });

  it('keeps its tools if the description cannot be read again, and shows the error', async () => {
    const api = await aDescribedApi(DESCRIPTION);
    const { becomes, call, clock, upstream } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('connected');
    api.description = 'not: [valid';
    await waitFor(async () => {
      await clock.advance(TEN_MINUTES);
      expect(upstream.status().lastError).not.toBeNull();
    });
    expect(upstream.status().state).toBe('connected');
    expect(resultOf(await call('shop.getItem', { id: 7 }))).toEqual({ id: 1 });
  });

  it('that is removed gets no request of a call that waits until it may be sent', async () => {
    let armed = Infinity;
    const api = await aDescribedApi(DESCRIPTION, {
      respond: ({ method }, response) => {
        if (method !== 'POST') return false;
        armed = clock.armed;
        response.writeHead(429, { 'retry-after': '20' }).end();
        return true;
      },
    });
    const { becomes, clock, engine, store } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('connected');
    const request = aRequest({ toolName: 'shop.addItem', args: { body: { id: 8 } } });
    const { id } = accepted(await engine.submit(request, aPrincipal()));
    // The call waits now.
    await waitFor(() => expect(clock.armed).toBeGreaterThan(armed));
    await engine.upstreams.remove('shop');
    const call = await waitFor(async () => {
      const found = await store.findCall(id);
      expect(found?.state.name).toBe('FAILED');
      return found;
    });
    expect(call?.state).toMatchObject({ error: { code: 'upstream_unreachable', outcome: 'not_started' } });
    await clock.advance(30_000);
    expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  it('is failed with a description that is none, until it is restarted', async () => {
    const api = await aDescribedApi(DESCRIPTION);
    api.description = '{"swagger":"2.0"}';
    const { becomes, clock, upstream } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('failed');
    expect(upstream.status().lastError?.message).toContain('2.0');
    await clock.advance(TEN_MINUTES);
    expect(api.requests).toHaveLength(1);
    api.description = JSON.stringify(DESCRIPTION);
    await upstream.restart();
    expect(upstream.status()).toMatchObject({ state: 'connected', lastError: null });
  });

  it('is disconnected while its description cannot be read, and tries again with back-off', async () => {
    let isDown = true;
    const api = await aDescribedApi(DESCRIPTION, {
      respond: (_request, response) => {
        if (isDown) response.writeHead(503).end();
        return isDown;
      },
    });
    const { becomes, clock, upstream, engine } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('disconnected');
    expect(upstream.status()).toMatchObject({
      lastError: { message: `${api.origin}/openapi.json returned status 503` },
      nextAttemptAt: clock.now() + 500,
    });
    expect(engine.toolIndex.list('default')).toEqual([]);
    isDown = false;
    await clock.advance(500);
    await becomes('connected');
    expect(upstream.status()).toMatchObject({ lastError: null, nextAttemptAt: null });
  });

  it('whose description is a file is read again when the file has changed', async () => {
    const api = await aDescribedApi(DESCRIPTION);
    const path = join(await aFolder(), 'shop.json');
    await writeFile(path, JSON.stringify(DESCRIPTION));
    const { becomes, call, clock, engine } = await anOpenApiUpstream({
      description: { kind: 'file', path },
      server: `${api.origin}/`,
    });
    await becomes('connected');
    expect(resultOf(await call('shop.getItem', { id: 7 }))).toEqual({ id: 1 });
    await writeFile(path, JSON.stringify(described({ paths: {} })));
    await utimes(path, 1, 1);
    await waitFor(async () => {
      await clock.advance(TEN_MINUTES);
      expect(engine.toolIndex.list('default')).toEqual([]);
    });
  });
});

describe('a server that the description names', () => {
  it('is reported if it is no complete URL, with the setting that mends it', async () => {
    const path = join(await aFolder(), 'shop.json');
    await writeFile(path, JSON.stringify(described({ servers: [{ url: '/v1' }] })));
    const { becomes, upstream } = await anOpenApiUpstream({ description: { kind: 'file', path } });
    await becomes('connected');
    expect(upstream.status().lastError?.message).toContain('openapi.shop.server');
  });

  it('gets no request if its address is private and the operator did not name it', async () => {
    const victim = await aDescribedApi(DESCRIPTION);
    const servers = [{ url: victim.origin }];
    const api = await aDescribedApi(described({ servers }));
    const { becomes, call } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('connected');
    const { state } = await call('shop.getItem', { id: 7 });
    expect(state).toMatchObject({ name: 'FAILED', error: { outcome: 'not_started' } });
    expect(JSON.stringify(state)).toContain('openapi.shop.server');
    expect(victim.requests).toEqual([]);
  });

  it('is replaced by the configured one, whose path is kept', async () => {
    const api = await aDescribedApi(described({ servers: [{ url: 'https://unused.invalid' }] }), {
      prefix: '/api/v1',
    });
    const { becomes, call } = await anOpenApiUpstream({
      description: urlOf(api),
      server: `${api.origin}/api/v1/`,
    });
    await becomes('connected');
    expect(resultOf(await call('shop.getItem', { id: 7 }))).toEqual({ id: 1 });
    expect(api.requests.at(-1)).toMatchObject({ path: '/items/7', template: '/items/{id}' });
  });
});

describe('a call over the network', () => {
  it('that loses its connection has an unknown outcome, and reached the server once', async () => {
    const api = await aDescribedApi(DESCRIPTION, {
      respond: ({ method }, response) => {
        if (method === 'POST') response.destroy();
        return method === 'POST';
      },
    });
    const { becomes, call, upstream } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('connected');
    expect((await call('shop.addItem', { body: { id: 8 } })).state).toMatchObject({
      name: 'FAILED',
      error: { code: 'provider_disconnected', outcome: 'unknown' },
    });
    expect(api.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(upstream.status().lastError?.message).toContain('POST /items was sent');
  });

  it('that gets an endless response ends at 4 MiB', async () => {
    let written = 0;
    const api = await aDescribedApi(DESCRIPTION, {
      respond: ({ method }, response) => {
        if (method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'application/json' });
        const chunk = 'x'.repeat(65_536);
        const write = (): void => {
          while (!response.destroyed && response.write(chunk)) written += chunk.length;
        };
        response.on('drain', write);
        write();
        return true;
      },
    });
    const { becomes, call } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('connected');
    expect((await call('shop.addItem', { body: { id: 8 } })).state).toMatchObject({
      error: { code: 'result_too_large', outcome: 'unknown' },
    });
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  it('ends as disconnected when the upstream is closed', async () => {
    let arrived = false;
    const api = await aDescribedApi(DESCRIPTION, {
      respond: ({ method }) => (arrived ||= method === 'POST'),
    });
    const { becomes, call, upstream } = await anOpenApiUpstream({ description: urlOf(api) });
    await becomes('connected');
    const ended = call('shop.addItem', { body: { id: 8 } });
    await waitFor(() => expect(arrived && upstream.status().inFlight === 1).toBe(true));
    await upstream.close();
    expect((await ended).state).toMatchObject({
      error: { code: 'provider_disconnected', outcome: 'unknown' },
    });
    expect(upstream.status()).toMatchObject({ state: 'disconnected', inFlight: 0 });
  });

  it('shows a planted secret nowhere', async () => {
    const secret = 'planted-secret-value';
    const securitySchemes = { key: { type: 'apiKey', in: 'query', name: 'k' } };
    const info = { title: `Shop ${secret}`, version: secret };
    const echo = described({ info, security: [{ key: [] }], components: { securitySchemes } });
    const api = await aDescribedApi(echo, {
      respond: ({ path, method }, response) => {
        if (path === '/openapi.json') return false;
        const status = method === 'POST' ? 400 : 200;
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ id: 1, path }));
        return true;
      },
    });
    const { becomes, call, upstream, engine } = await anOpenApiUpstream(
      { description: urlOf(api), security: { key: { kind: 'value', value: secret } } },
      [secret],
    );
    await becomes('connected');
    const calls = [await call('shop.getItem', { id: 7 }), await call('shop.addItem', { body: { id: 8 } })];
    expect(api.requests.at(-1)?.path).toBe(`/items?k=${secret}`);
    const shown = JSON.stringify([calls, upstream.status(), engine.toolIndex.list('default')]);
    expect(shown).not.toContain(secret);
    expect(shown).toContain('/items?k=[redacted]');
  });
});
