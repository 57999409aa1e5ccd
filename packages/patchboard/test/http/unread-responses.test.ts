import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, type TestServer } from './support/a-server.ts';
import { open } from './support/raw-http.ts';
import { echo } from './support/toy-tools.ts';

/** Eight of them are a page, and more than what the system holds for a connection. */
const LARGE = 1_000_000;
const CALLS = 8;

let server: TestServer;
beforeAll(async () => {
  server = await aServer({ tools: [echo], http: { heldBodyBytes: 8_000_000, eventLoopDelayMs: 60_000 } });
  for (let place = 0; place < CALLS; place += 1) {
    const body = { run_id: 'run_1', args: { text: 'a'.repeat(LARGE) } };
    const called = await server.post('/v1/tools/echo/invoke', body, { headers: { prefer: 'wait=10' } });
    expect(called.status).toBe(200);
  }
});
afterAll(async () => await server.close());

const LIST = '/v1/tool_calls?limit=50';

/** Asks for the list and reads no more than its beginning. */
async function askAndStall(): Promise<Socket> {
  const socket = await open(server.port);
  const begun = new Promise<string>((resolve) =>
    socket.once('data', (part: Buffer) => {
      socket.pause();
      resolve(part.toString('latin1'));
    }),
  );
  socket.on('error', () => undefined);
  socket.write(`GET ${LIST} HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`);
  expect(await begun).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}

describe('a large response that is not read', () => {
  it('uses up the budget for large responses until its reader is gone, while small ones are still sent', async () => {
    const stalled = await askAndStall();
    const refused = await server.get(LIST);
    expect(refused.json).toMatchObject({ status: 503, code: 'overloaded', retryable: true });
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect((await server.get('/v1/tool_calls?limit=50&state=FAILED')).status).toBe(200);
    stalled.destroy();
    await expect.poll(async () => (await server.get(LIST)).status).toBe(200);
  });

  it('does not refuse what was done already', async () => {
    const stalled = await askAndStall();
    const body = { run_id: 'run_1', args: { text: 'a'.repeat(LARGE) } };
    const called = await server.post('/v1/tools/echo/invoke', body, { headers: { prefer: 'wait=10' } });
    expect(called.json).toMatchObject({ status: 'SUCCEEDED' });
    stalled.destroy();
  });

  it('that is read counts no longer, one after the other', async () => {
    await expect.poll(async () => (await server.get(LIST)).status).toBe(200);
    for (let round = 0; round < 3; round += 1) expect((await server.get(LIST)).status).toBe(200);
  });
});
