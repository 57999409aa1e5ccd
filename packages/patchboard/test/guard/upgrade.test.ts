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

/**
 * All that comes back until the server hangs up; an upgrade that were granted would hold this open for ever.
 * `before`: what is sent in the same packet, ahead of it.
 */
async function upgrade(path: string, headers: readonly string[], before = ''): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  const closed = once(socket, 'close');
  socket.write(
    before +
      [
        `GET ${path} HTTP/1.1`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
        '',
        '',
      ].join('\r\n'),
  );
  await closed;
  return Buffer.concat(parts).toString();
}

describe('an upgrade', () => {
  const own = (): string => `Host: 127.0.0.1:${server.port}`;

  it.each(['/ws', '/v1/events', '/v1/tools', '/', '/nope'])(
    'of a foreign page is refused at %s',
    async (path) => {
      const before = await recordOf(server.store);
      const refusals: readonly (readonly [headers: string[], status: number, code: string])[] = [
        [['Host: evil.example'], 421, 'misdirected'],
        [[own(), 'Origin: https://evil.example'], 403, 'permission_denied'],
        [[own(), 'Origin: null'], 403, 'permission_denied'],
        [[own(), 'Origin: http://127.0.0.1:1'], 403, 'permission_denied'],
        [[own(), 'Sec-Fetch-Site: cross-site'], 403, 'permission_denied'],
      ];
      for (const [headers, status, code] of refusals) {
        const response = await upgrade(path, headers);
        expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(response).toContain(`"code":"${code}"`);
        expect(response).not.toContain('101 Switching');
      }
      expect(await recordOf(server.store)).toEqual(before);
    },
  );

  it('with our own Host and no Origin gets no socket where there is none', async () => {
    expect(await upgrade('/nope', [own()])).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('that is pipelined behind another request ends its own connection, and nothing else', async () => {
    const ahead = `GET /v1/events HTTP/1.1\r\n${own()}\r\n\r\n`;
    expect(await upgrade('/ws', [own()], ahead)).not.toContain('101 Switching');
    expect((await server.ask({ method: 'GET', path: '/healthz' })).status).toBe(200);
  });
});
