import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, type TestServer } from './support/a-server.ts';
import { allOf, open } from './support/raw-http.ts';
import { echo } from './support/toy-tools.ts';

let server: TestServer;

beforeAll(async () => {
  server = await aServer({ tools: [echo], http: { headersTimeoutMs: 200, requestTimeoutMs: 400 } });
});
afterAll(async () => {
  await server.close();
});

const HEAD =
  'POST /v1/tools/echo/invoke HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Type: application/json\r\n';

// Node by itself looks every 30 s for requests that are late: by then these tests have failed.
describe.concurrent('a request that does not arrive in time', { timeout: 15_000 }, () => {
  it.each([
    ['nothing but a connection', ''],
    ['half of its headers', HEAD],
    ['half of its body', `${HEAD}Content-Length: 100\r\n\r\n{"run_id":`],
    ['half of its chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\na\r\n{"run_id":\r\n`],
  ])('is 408 and cut off: %s', async (_what, text) => {
    const socket = await open(server.port);
    const response = allOf(socket);
    socket.write(text.replace('PORT', String(server.port)));
    expect(await response).toMatch(
      /^HTTP\/1\.1 408 .*"the request did not arrive in time".*"retryable":true/s,
    );
  });

  it('is cut off also while it sends a byte now and then', async () => {
    const socket = await open(server.port);
    const response = allOf(socket);
    socket.write(`${HEAD.replace('PORT', String(server.port))}Content-Length: 100000\r\n\r\n`);
    const drip = setInterval(() => socket.write(' '), 20);
    try {
      expect(await response).toMatch(/^HTTP\/1\.1 408 /);
    } finally {
      clearInterval(drip);
    }
  });
});
