import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform, recordOf, type TestPlatform } from './support/a-platform.ts';
import { echoTool } from './support/scene.ts';

let server: TestPlatform;

beforeAll(async () => {
  server = await aPlatform({ tools: [echoTool] });
});
afterAll(async () => {
  await server.close();
});

/** The status of what comes back on a connection of its own; 0 when nothing does. */
async function statusOf(lines: readonly string[], body = ''): Promise<number> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  const closed = once(socket, 'close');
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  await closed;
  return Number(/^HTTP\/1\.1 (\d+)/.exec(Buffer.concat(parts).toString())?.[1] ?? 0);
}

const own = (): string => `Host: 127.0.0.1:${server.port}`;
const PATH = '/v1/tools/toy.echo/invoke';
const BODY = '{"run_id":"odd","args":{}}';

function post(headers: readonly string[], target = PATH): readonly string[] {
  return [`POST ${target} HTTP/1.1`, ...headers, `Content-Length: ${BODY.length}`];
}

const JSON_TYPE = 'Content-Type: application/json';

describe('a request no browser and no client of ours sends', () => {
  it.each<[string, () => readonly string[], number]>([
    ['no Host', () => post([JSON_TYPE]), 400],
    ['a foreign Host before ours', () => post(['Host: evil.example', own(), JSON_TYPE]), 400],
    ['our Host before a foreign one', () => post([own(), 'Host: evil.example', JSON_TYPE]), 400],
    ['a target that names another server', () => post([own(), JSON_TYPE], `http://evil.example${PATH}`), 421],
    ['an empty Origin', () => post([own(), 'Origin: ', JSON_TYPE]), 403],
    [
      'two Origins',
      () => post([own(), `Origin: http://127.0.0.1:${server.port}`, 'Origin: null', JSON_TYPE]),
      403,
    ],
    [
      'two Sec-Fetch-Sites',
      () => post([own(), 'Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site', JSON_TYPE]),
      403,
    ],
    ['an unknown Sec-Fetch-Site', () => post([own(), 'Sec-Fetch-Site: next-door', JSON_TYPE]), 403],
    ['no content type', () => post([own()]), 415],
    ['JSON as a parameter', () => post([own(), 'Content-Type: text/plain; application/json']), 415],
    ['two types', () => post([own(), 'Content-Type: text/plain, application/json']), 415],
    ['a type that begins like JSON', () => post([own(), 'Content-Type: application/jsonp']), 415],
    ['a compressed body', () => post([own(), JSON_TYPE, 'Content-Encoding: gzip']), 415],
    ['two lengths', () => post([own(), JSON_TYPE, 'Content-Length: 3']), 400],
    ['a length and chunks', () => post([own(), JSON_TYPE, 'Transfer-Encoding: chunked']), 400],
    ['two agents', () => post([own(), JSON_TYPE, 'X-Agent-ID: a', 'X-Agent-ID: b']), 400],
    [
      'another method in a header',
      () => post([own(), JSON_TYPE, 'X-HTTP-Method-Override: GET'], '/v1/keys/x'),
      405,
    ],
    ['CONNECT', () => [`CONNECT 127.0.0.1:${server.port} HTTP/1.1`, own()], 0],
  ])('is refused: %s', async (_what, lines, status) => {
    const before = await recordOf(server.store);
    expect(await statusOf(lines(), BODY)).toBe(status);
    expect(await recordOf(server.store)).toEqual(before);
  });

  it('is refused without a Host, in an older HTTP too', async () => {
    expect(await statusOf(['GET /v1/tools HTTP/1.0'])).toBe(421);
  });

  it('uses the first of two credentials, not the one with more rights', async () => {
    const good = `Authorization: Bearer ${server.operatorToken}`;
    expect(await statusOf(['GET /v1/keys HTTP/1.1', own(), 'Authorization: Bearer x', good])).toBe(401);
    expect(await statusOf(['GET /v1/keys HTTP/1.1', own(), good])).toBe(200);
  });
});
