import { describe, expect, it } from 'vitest';
import {
  aCall,
  clientOf,
  failureOf,
  fakeServer,
  json,
  problem,
  running,
  swiftClock,
  UNHURRIED,
} from '../../test/fake-server.ts';
import { NetworkError, TimeoutError } from '../index.ts';

describe('wait', () => {
  it('survives a restart of the server', async () => {
    const server = await fakeServer((_seen, response, count) => {
      // The first poll hangs until the server goes down.
      if (count > 1) json(response, 200, aCall());
    });
    const waiting = clientOf(server).wait('tc_1');
    await server.requests(1);
    await server.stop();
    await server.start();
    expect((await waiting).status).toBe('SUCCEEDED');
  });

  it('survives 502 pages of a gateway', async () => {
    const server = await fakeServer((_seen, response, count) => {
      if (count > 8) return json(response, 200, aCall());
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<h1>Bad Gateway</h1>');
    });
    expect((await clientOf(server).wait('tc_1')).status).toBe('SUCCEEDED');
  });

  it('throws at its time limit, with the id of the call', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, running));
    const error = await failureOf(clientOf(server).wait('tc_1', { timeoutMs: 5000 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ kind: 'timeout', code: 'client_timeout', toolCallId: 'tc_1' });
  });

  it('throws at its time limit while a poll hangs', async () => {
    const server = await fakeServer(() => undefined);
    const error = await failureOf(clientOf(server).wait('tc_1', { timeoutMs: 5000 }));
    expect(error).toMatchObject({ kind: 'timeout', toolCallId: 'tc_1' });
  });

  it('throws at its time limit while the server is unreachable, with the network error as cause', async () => {
    const server = await fakeServer(() => undefined);
    const fetch = (): Promise<never> => Promise.reject(new TypeError('fetch failed'));
    const error = await failureOf(clientOf(server, { fetch }).wait('tc_1', { timeoutMs: 50_000 }));
    expect(error).toMatchObject({ kind: 'timeout', toolCallId: 'tc_1' });
    expect(error.cause).toBeInstanceOf(NetworkError);
  });

  it('stops retrying an unreachable server after reconnectForMs', async () => {
    const server = await fakeServer(() => undefined);
    await server.stop();
    const client = clientOf(server, { retry: { reconnectForMs: 60_000 } });
    expect(await failureOf(client.wait('tc_1'))).toBeInstanceOf(NetworkError);
  });

  it('pauses between polls that return early', async () => {
    const server = await fakeServer((_seen, response, count) =>
      json(response, 200, count < 5 ? running : aCall()),
    );
    // This clock never advances, so every response is early.
    const clock = { ...swiftClock(), now: () => 0 };
    await clientOf(server, { clock, random: () => 0 }).wait('tc_1');
    const pauses = clock.asked.filter((ms) => ms < UNHURRIED.requestTimeoutMs);
    expect(pauses).toEqual([100, 200, 400, 800]);
  });

  it('throws at once for a call that does not exist', async () => {
    const server = await fakeServer((_seen, response) => problem(response, 404, 'call_not_found'));
    expect(await failureOf(clientOf(server).wait('tc_9'))).toMatchObject({
      code: 'call_not_found',
      status: 404,
    });
    expect(server.seen).toHaveLength(1);
  });

  it('rejects a time limit of 0', async () => {
    const server = await fakeServer(() => undefined);
    await expect(clientOf(server).wait('tc_1', { timeoutMs: 0 })).rejects.toThrow(TypeError);
  });
});
