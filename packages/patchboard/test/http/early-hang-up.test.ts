import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { tool } from '../../src/index.ts';
import type { Route } from '../../src/transports/shared/routes/routes.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { aBoard } from '../support/a-board.ts';
import { aFolder } from '../support/a-folder.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { startServer } from '../support/server-process.ts';
import { aServer } from './support/a-server.ts';
import { open } from './support/raw-http.ts';
import { gatedTool } from './support/toy-tools.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();

const SECRET = 'a-secret-of-at-least-32-characters-for-hs256';
const JWT = { issuer: 'https://issuer.test', audience: 'patchboard' };

/** Verified away from the thread: a client that resets at once is gone before its request is let in. */
async function aToken(kind: string): Promise<string> {
  return await new SignJWT({ kind })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('phone')
    .setIssuer(JWT.issuer)
    .setAudience(JWT.audience)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));
}

function requestTo(port: number, path: string, fields: readonly string[] = []): string {
  return `${[`GET ${path} HTTP/1.1`, `Host: localhost:${port}`, ...fields].join('\r\n')}\r\n\r\n`;
}

/** Resets once the server has the request: it has sent the response to the one before, which came in the same packet. */
async function sendAndReset(port: number, path: string, fields: readonly string[]): Promise<void> {
  const socket = await open(port);
  socket.write(requestTo(port, '/healthz') + requestTo(port, path, fields));
  await once(socket, 'data');
  await reset(socket);
}

/** Nothing may be pipelined before an upgrade: here the reset may come first. */
async function upgradeAndReset(port: number, fields: readonly string[]): Promise<void> {
  const socket = await open(port);
  await new Promise((resolve) => socket.write(requestTo(port, '/ws', fields), resolve));
  await reset(socket);
}

async function reset(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.resetAndDestroy();
  await closed;
}

describe('a client that resets while its request is looked at', () => {
  /** Handlers of requests with `X-Held` wait for `goOn`. */
  function heldRoutes(): { routes: Route[]; reached: () => number; goOn: () => void } {
    let reached = 0;
    let goOn = (): void => undefined;
    const released = new Promise<void>((resolve) => (goOn = resolve));
    const routes = ROUTES.map((route): Route => ({
      ...route,
      handle: async (context, request, reply) => {
        if (request.headers['x-held'] !== undefined) {
          reached += 1;
          await released;
        }
        await route.handle(context, request, reply);
      },
    }));
    return { routes, reached: () => reached, goOn };
  }

  it.each([
    '/v1/events',
    '/v1/events?after=0',
    '/v1/tool_calls/ID/events',
    '/internal/clients/phone/requests',
    '/internal/clients/phone/requests?wait=60',
  ])('leaves nothing open: %s', async (path) => {
    const { routes, reached, goOn } = heldRoutes();
    const gate = gatedTool();
    const server = await aServer({ tools: [gate.tool], routes, limits: { drainMs: 1 } });
    closeLater(() => server.close());
    const sockets: Socket[] = [];
    server.app.server.on('connection', (socket) => sockets.push(socket));
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_1' });
    const client = await open(server.port);
    const url = path.replace('ID', json.tool_call_id);
    client.write(`GET ${url} HTTP/1.1\r\nHost: localhost:${server.port}\r\nX-Held: 1\r\n\r\n`);
    await waitFor(() => expect(reached()).toBe(1));
    const served = sockets.find(({ remotePort }) => remotePort === client.localPort)!;
    // Not `once`: the reset is an error as well.
    const closed = new Promise((resolve) => served.on('close', resolve));
    client.resetAndDestroy();
    await closed;
    goOn();
    expect((await server.get('/v1/stats')).json.streams).toBe(0);
    expect(server.engine.clientQueues.isOnline('default', 'phone')).toBe(false);
  });
});

describe('clients that connect and reset at once', () => {
  it('leave no stream, no device and no client behind in a server', async () => {
    const config = join(await aFolder(), 'config.json');
    await writeFile(config, JSON.stringify({ auth: { jwt: { ...JWT, secret_env: 'JWT_SECRET' } } }));
    const server = await startServer({ JWT_SECRET: SECRET }, ['--config', config]);
    closeLater(() => server.stop());
    const bearer = `Authorization: Bearer ${await aToken('client')}`;
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    const port = Number(server.port);
    const sends = [
      () => sendAndReset(port, '/v1/events?after=0', [bearer]),
      () => sendAndReset(port, '/internal/clients/phone/requests', [bearer]),
      () => upgradeAndReset(port, [bearer, ...upgrade]),
    ];
    await Promise.all(Array.from({ length: 300 }, (_, index) => sends[index % sends.length]!()));
    const operator = readFileSync(join(server.dataFolder, 'operator.token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${operator}` };
    await waitFor(async () => {
      const stats = await (await fetch(`${server.url}/v1/stats`, { headers })).json();
      expect(stats).toMatchObject({ streams: 0, devices: { online: 0, away: 0 } });
    });
  });

  it('leave no stream behind in a board that is mounted in another server', async () => {
    const board = await aBoard({
      tools: [tool('echo', () => 'x')],
      http: { allowedHosts: ['app.example'], jwt: { ...JWT, keys: { kind: 'secret', secret: SECRET } } },
    });
    const host = createServer(board.handler);
    closeLater(() => host.close());
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    const { port } = host.address() as AddressInfo;
    const token = await aToken('agent');
    const fetched = async (): Promise<void> => {
      const stop = new AbortController();
      const headers = { authorization: `Bearer ${token}` };
      const response = board.fetch(
        new Request('http://app.example/v1/events', { headers, signal: stop.signal }),
      );
      // Late enough to be on its way, and too early for a response.
      setImmediate(() => stop.abort());
      await expect(response).rejects.toThrow();
    };
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        index % 2 === 0
          ? await sendAndReset(port, '/v1/events', [`Authorization: Bearer ${token}`])
          : await fetched(),
      ),
    );
    const { secret } = await board.createKey({ kind: 'operator', name: 'ops' });
    const headers = { authorization: `Bearer ${secret}` };
    await waitFor(async () => {
      const metrics = await board.fetch(new Request('http://app.example/metrics', { headers }));
      expect(await metrics.text()).toContain('patchboard_streams_open 0\n');
    });
  });
});
