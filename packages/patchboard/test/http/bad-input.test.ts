import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageFull } from '../../src/core/failures.ts';
import type { Route } from '../../src/transports/shared/routes/routes.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { silentLog } from '../support/an-engine.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { aServer, type TestServer } from './support/a-server.ts';
import { allOf, exchange, open } from './support/raw-http.ts';
import { add, echo } from './support/toy-tools.ts';

let server: TestServer;
const INVOKE = '/v1/tools/echo/invoke';

beforeAll(async () => {
  server = await aServer({ tools: [echo, add] });
});
afterAll(async () => {
  await server.close();
});

async function recorded(): Promise<number> {
  return (await server.get('/v1/tool_calls?limit=200')).json.tool_calls.length;
}

describe('a body that is not acceptable', () => {
  it.each([
    ['broken', '{"run_id":"r",\n "args":{,}}', 'line 2, column'],
    ['cut short', '{"run_id":"r"', 'line 1, column'],
    ['two keys of one name', '{"run_id":"r","args":{"a":1,"a":2}}', 'a'],
    ['__proto__', '{"run_id":"r","args":{"__proto__":{"x":1}}}', '__proto__'],
    ['escaped __proto__', '{"run_id":"r","args":{"\\u005f_proto__":{"x":1}}}', '__proto__'],
    ['constructor.prototype', '{"run_id":"r","args":{"constructor":{"prototype":{"x":1}}}}', 'prototype'],
    ['an unsafe integer', '{"run_id":"r","args":{"n":9007199254740993}}', 'line 1'],
    ['deep', `{"run_id":"r","args":${'['.repeat(70)}${']'.repeat(70)}}`, 'line 1'],
    ['very deep', `{"run_id":"r","args":${'['.repeat(200_000)}`, 'line 1'],
    ['not an object', '[]', 'JSON object'],
    ['null', 'null', 'JSON object'],
    ['nothing', '', 'JSON object'],
    ['a run id with a space', '{"run_id":"a b"}', 'body/run_id must be 1 to 200 visible ASCII characters'],
    ['a run id that is a number', '{"run_id":1}', 'body/run_id'],
    ['an empty run id', '{"run_id":""}', 'body/run_id'],
    ['a run id with a space', '{"run_id":"a b"}', 'body/run_id'],
    ['a run id too long', `{"run_id":"${'r'.repeat(201)}"}`, 'body/run_id'],
    ['no run id', '{"args":{}}', 'body/run_id is required'],
    ['an unknown property', '{"run_id":"r","arguments":{}}', 'body/arguments is not known here'],
    ['a target that is no text', '{"run_id":"r","target":5}', 'body/target'],
  ])('%s is 400 and records nothing', async (_title, body, words) => {
    const before = await recorded();
    const response = await server.post(INVOKE, body);
    expect(response.json).toMatchObject({ status: 400, code: 'body_invalid', retryable: false });
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(response.json.detail).toContain(words);
    expect(await recorded()).toBe(before);
  });

  it('names every property that is wrong', async () => {
    const { json } = await server.post(INVOKE, { args: {}, one: 1, two: 2 });
    const unknown = { message: 'is not known here', reasons: [{ code: 'issue_unknown_member', params: {} }] };
    expect(json.errors).toEqual([
      { path: '/run_id', message: 'is required', reasons: [{ code: 'argument_missing', params: {} }] },
      { path: '/one', ...unknown },
      { path: '/two', ...unknown },
    ]);
  });

  it('names the first 20 of very many, and looks for no more', async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`key${at}`, at]));
    const { json } = await server.post(INVOKE, { run_id: 'r', ...many });
    expect(json.errors).toHaveLength(20);
    expect(json.errors).toMatchObject({ 0: { path: '/key0', message: 'is not known here' } });
  });

  it('refuses bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"run_id":"r","args":{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"}}'),
    ]);
    const response = await fetch(server.url + INVOKE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: bytes,
    });
    expect(await response.json()).toMatchObject({
      status: 400,
      code: 'body_invalid',
      detail: 'the body is not UTF-8',
    });
  });

  it.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['multipart/form-data; boundary=x', {}],
    ['application/jsonp', {}],
    ['nonsense', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('%s is 415', async (type, more) => {
    const before = await recorded();
    const response = await server.post(INVOKE, '{"run_id":"r"}', {
      headers: { 'content-type': type, ...more },
    });
    expect(response.json).toMatchObject({ status: 415, code: 'content_type' });
    expect(await recorded()).toBe(before);
  });

  it('takes a charset, and a body without a type is 415', async () => {
    const sent = { headers: { 'content-type': 'application/json; charset=utf-8' } };
    expect((await server.post(INVOKE, '{"run_id":"r"}', sent)).status).toBe(202);
    const text = `POST ${INVOKE} HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
    expect(await exchange(server.port, text)).toMatch(/^HTTP\/1\.1 415 /);
  });
});

describe('arguments, tools and keys', () => {
  it('arguments that do not fit are 422, and one ledger row says so', async () => {
    const response = await server.post('/v1/tools/math.add/invoke', { run_id: 'r', args: { a: 1 } });
    expect(response.json).toMatchObject({ status: 422, code: 'input_invalid' });
    expect(response.json.errors).toHaveLength(1);
    const rows = (await server.get('/v1/ledger?limit=200')).json.rows;
    expect(rows.at(-1)).toMatchObject({
      kind: 'call.refused',
      body: { tool_name: 'math.add', code: 'input_invalid' },
    });
  });

  it('an unknown tool is 404 in the words of the seed', async () => {
    const { json } = await server.post('/v1/tools/no.such/invoke', { run_id: 'r' });
    expect(json).toMatchObject({ status: 404, code: 'tool_not_found', detail: 'tool not found: no.such' });
  });

  it.each(['', 'a b', 'k'.repeat(201), 'schlüssel'])('refuses the idempotency key "%s"', async (key) => {
    const text =
      `POST ${INVOKE} HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Type: application/json\r\n` +
      `Idempotency-Key: ${key}\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{"run_id":"r"}`;
    expect(await exchange(server.port, text)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('refuses ids in headers that are outside the rule', async () => {
    for (const name of ['x-agent-id', 'x-client-id', 'x-tenant-id']) {
      const response = await server.get('/v1/tools', { headers: { [name]: 'a b' } });
      expect(response.json).toMatchObject({ status: 400, code: 'body_invalid' });
    }
  });
});

describe('requests that cannot be served', () => {
  it.each(['/nope', '/v1/nope', '/v1/tools/echo/invoke/more'])('%s is route_not_found', async (path) => {
    expect((await server.get(path)).json).toMatchObject({ status: 404, code: 'route_not_found' });
  });

  it.each([
    ['PUT', '/v1/tools', 'GET, HEAD'],
    ['GET', '/v1/tools/echo/invoke', 'POST'],
    ['POST', '/v1/tools/echo', 'GET, HEAD'],
    ['DELETE', '/v1/policy?x=1', 'GET, HEAD, PUT'],
    ['PATCH', '/v1/tenants/acme', 'PUT, DELETE'],
    ['PUT', '/v1/tool_calls/batch', 'POST, GET, HEAD'],
    ['HEAD', '/v1/events', 'GET'],
    ['OPTIONS', '/v1/parse', 'POST'],
    ['POST', '/ui/calls', 'GET, HEAD'],
  ])('%s %s is 405, and says what is taken there', async (method, path, allow) => {
    const response = await fetch(`${server.url}${path}`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    if (method === 'HEAD') return;
    expect(await response.json()).toMatchObject({
      status: 405,
      code: 'method_not_allowed',
      detail: `${path.split('?')[0]} takes ${allow.replaceAll(', ', ' or ')}, not ${method}`,
    });
  });

  it('a URL that cannot be decoded, or with an endless name, is 400', async () => {
    expect((await server.get('/v1/tools/%zz')).json).toMatchObject({
      status: 400,
      code: 'body_invalid',
      detail: 'the path of the URL has a % that begins no encoded character',
    });
    expect((await server.get(`/v1/tools/${'x'.repeat(2000)}`)).json).toMatchObject({
      status: 400,
      code: 'body_invalid',
      detail: 'a part of the path is longer than 500 characters',
    });
    expect((await server.get(`/v1/tools/${'x'.repeat(300)}`)).json).toMatchObject({
      status: 404,
      code: 'tool_not_found',
    });
  });

  it('the character 0 in a part of the path, or in a parameter, is 400', async () => {
    for (const [path, place] of [
      ['/v1/tool_calls/tc_%00', 'path/id'],
      ['/v1/runs/%00', 'path/id'],
      ['/v1/tool_calls?run_id=%00', 'query/run_id'],
      ['/v1/tool_calls?query=trace:%00', 'query/query'],
      ['/v1/ledger?trace_id=%00', 'query/trace_id'],
    ])
      expect((await server.get(path!)).json).toMatchObject({
        status: 400,
        code: 'body_invalid',
        detail: `${place} must not contain U+0000`,
      });
  });

  it('headers over the limit are 431, and what is not HTTP is 400', async () => {
    const host = `Host: localhost:${server.port}\r\n`;
    const long = await exchange(
      server.port,
      `GET /v1/tools HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
    );
    expect(long).toMatch(
      /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n[^]*"status":431,"detail":"[^"]* limit of \d+ bytes",[^]*"headers_over_limit"[^]*"code":"too_large"/,
    );
    expect(await exchange(server.port, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^]*"code":"body_invalid"/);
  });
});

describe('size', () => {
  it('a body over the limit is 413, with or without Content-Length', async () => {
    const big = `{"run_id":"r","args":{"a":"${'x'.repeat(1_114_112)}"}}`;
    expect((await server.post(INVOKE, big)).json).toMatchObject({
      status: 413,
      code: 'too_large',
      detail: 'the body is larger than the limit of 1114112 bytes',
    });
  });

  it('an endless chunked body is cut off', async () => {
    const socket = await open(server.port);
    const response = allOf(socket);
    socket.write(
      `POST ${INVOKE} HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    let sent = 0;
    // Until the other side hangs up: writing never ends by itself.
    const more = (): void => {
      if (socket.destroyed || sent > 64 * 1_048_576) return;
      sent += chunk.length;
      socket.write(chunk, () => setImmediate(more));
    };
    more();
    expect(await response).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeLessThan(64 * 1_048_576);
  });
});

describe('server errors', () => {
  it('a full store is 507 and says that a retry may help', async () => {
    const store = memoryStore({ digest: nodeDigest });
    store.insertCall = () => Promise.reject(new StorageFull());
    const full = await aServer({ tools: [echo], store });
    expect((await full.post(INVOKE, { run_id: 'r' })).json).toMatchObject({
      status: 507,
      code: 'storage_full',
      retryable: true,
    });
    expect((await full.get('/v1/tools')).status).toBe(200);
    await full.close();
  });

  it('anything unexpected is 500, tells nothing, and is logged once', async () => {
    const logged: unknown[] = [];
    const failing: Route = {
      ...ROUTES.find((route) => route.name === 'health')!,
      url: '/boom',
      name: 'boom',
      handle: () => Promise.reject(new Error('secret at /home/x.ts')),
    };
    const broken = await aServer({
      routes: [failing],
      log: { ...silentLog, error: (event, fields) => logged.push([event, fields]) },
    });
    const response = await broken.get('/boom');
    expect(response.json).toMatchObject({ status: 500, code: 'internal', detail: 'a fault in the server' });
    expect(response.text).not.toContain('secret');
    expect(logged).toMatchObject([
      ['http.failed', { method: 'GET', route: '/boom', error: 'secret at /home/x.ts' }],
    ]);
    await broken.close();
  });
});
