import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { aServer, type ServerGiven, type TestServer } from './support/a-server.ts';
import { allOf, open } from './support/raw-http.ts';
import { echo } from './support/toy-tools.ts';

let server: TestServer;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

async function start(http: ServerGiven['http'] = {}): Promise<void> {
  server = await aServer({ tools: [echo], http: { eventLoopDelayMs: 60_000, ...http } });
}

/** Sends the beginning of a body and keeps the connection open. */
async function begin(path: string, framing: string, body: string, method = 'POST'): Promise<Socket> {
  const socket = await open(server.port);
  sockets.push(socket);
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Type: application/json\r\n` +
      `Connection: close\r\n${framing}\r\n\r\n${body}`,
  );
  return socket;
}

const length = (bytes: number): string => `Content-Length: ${bytes}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const chunkOf = (bytes: number): string => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`;

describe('the body of a request that shows no credential', () => {
  it.each([
    ['reaches no route', '/nowhere', length(1_000_000), ' ', 404],
    ['has the wrong method', '/healthz', length(1_000_000), ' ', 405],
    ['is announced as a large one', '/v1/session', length(16_385), ' ', 413],
    ['turns out to be a large one', '/v1/session', CHUNKED, chunkOf(16_385), 413],
  ])('is not waited for where the request %s', async (_which, path, framing, body, status) => {
    // Without a response at once the connection would be cut off with 408.
    await start({ requestTimeoutMs: 20_000 });
    const response = allOf(await begin(path, framing, body));
    expect(await response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });
});

describe('the body of a request to a route that takes none', () => {
  it.each([
    ['is announced as a large one', 'DELETE', '/mcp', length(16_385), ' '],
    ['turns out to be a large one', 'DELETE', '/mcp', CHUNKED, chunkOf(16_385)],
    ['is sent to another route', 'DELETE', '/internal/clients/me/tools', CHUNKED, chunkOf(16_385)],
  ])(
    'is not waited for, whatever credential it has, where it %s',
    async (_which, method, path, framing, body) => {
      await start({ requestTimeoutMs: 20_000 });
      expect(await allOf(await begin(path, framing, body, method))).toMatch(/^HTTP\/1\.1 413 /);
    },
  );
});

describe('large bodies that do not arrive', () => {
  const INVOKE = '/v1/tools/echo/invoke';
  const PART = ' '.repeat(100_000);

  async function invoke(args: unknown): Promise<number> {
    return (await server.post(INVOKE, { run_id: 'run_1', args })).status;
  }

  it.each([
    ['with their length', length(200_000), PART],
    ['in chunks', CHUNKED, chunkOf(PART.length)],
  ])(
    'are refused beyond what they may take together, and small ones are not: %s',
    async (_how, framing, part) => {
      // Of this one tenant takes three quarters.
      await start({ heldBodyBytes: 400_000 });
      await begin(INVOKE, framing, part);
      await begin(INVOKE, framing, part);
      await begin(INVOKE, framing, part);
      const beyond = await allOf(await begin(INVOKE, framing, part));
      expect(beyond).toMatch(/^HTTP\/1\.1 503 /);
      expect(beyond).toMatch(/retry-after: /i);
      expect(beyond).toContain('"code":"overloaded"');
      expect(await invoke({ text: 'a'.repeat(10_000) })).toBe(202);
      expect(await invoke({ text: 'a'.repeat(100_000) })).toBe(503);
    },
  );

  it('leave room again when their connection ends or they are whole', async () => {
    await start({ heldBodyBytes: 400_000 });
    const cut = await begin(INVOKE, length(300_000), ' '.repeat(280_000));
    await expect.poll(() => invoke({ text: 'a'.repeat(90_000) })).toBe(503);
    cut.destroy();
    await expect.poll(() => invoke({ text: 'a'.repeat(90_000) })).toBe(202);
    for (let round = 0; round < 5; round += 1) expect(await invoke({ text: 'a'.repeat(90_000) })).toBe(202);
  });
});
