import { describe, expect, it } from 'vitest';
import { aCall, clientOf, failureOf, fakeServer, json, problem, receipt } from '../../test/fake-server.ts';
import { NetworkError } from '../index.ts';

describe('cancel and replay', () => {
  const cancelled = aCall({ status: 'FAILED', state: 'CANCELLED' });

  it('cancels', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, cancelled));
    expect((await clientOf(server).cancel('tc_1')).state).toBe('CANCELLED');
    expect(server.seen[0]).toMatchObject({ method: 'POST', path: '/v1/tool_calls/tc_1/cancel' });
  });

  it('returns the record when a conflict after a lost response shows that the first request worked', async () => {
    const server = await fakeServer((seen, response, count) => {
      if (count === 1) response.destroy();
      else if (seen.method === 'POST') problem(response, 409, 'conflict', { state: 'CANCELLED' });
      else json(response, 200, cancelled);
    });
    expect((await clientOf(server).cancel('tc_1')).state).toBe('CANCELLED');
  });

  it('returns the record also when a gateway responded in place of the server', async () => {
    const server = await fakeServer((seen, response, count) => {
      if (count === 1) response.writeHead(504, { 'content-type': 'text/html' }).end('<p>Gateway Timeout</p>');
      else if (seen.method === 'POST') problem(response, 409, 'conflict', { state: 'CANCELLED' });
      else json(response, 200, cancelled);
    });
    expect((await clientOf(server).cancel('tc_1')).state).toBe('CANCELLED');
  });

  it('throws the conflict with the current state when the call had already ended', async () => {
    const server = await fakeServer((_seen, response) =>
      problem(response, 409, 'conflict', { state: 'COMPLETED' }),
    );
    expect(await failureOf(clientOf(server).cancel('tc_1'))).toMatchObject({
      code: 'conflict',
      state: 'COMPLETED',
    });
    expect(server.seen).toHaveLength(1);
  });

  it('never retries a replay whose response was lost', async () => {
    const server = await fakeServer((_seen, response) => void response.destroy());
    expect(await failureOf(clientOf(server).replay('tc_1', { a: 2 }))).toBeInstanceOf(NetworkError);
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({ path: '/v1/tool_calls/tc_1/replay', body: { args: { a: 2 } } });
  });

  it('retries a replay that the server rejected as overloaded, but not one that a gateway rejected', async () => {
    const server = await fakeServer((_seen, response, count) => {
      if (count === 1) problem(response, 503, 'queue_full', { retryable: true });
      else json(response, 202, receipt);
    });
    expect(await clientOf(server).replay('tc_1')).toEqual(receipt);
    const gateway = await fakeServer((_seen, response) => {
      response.writeHead(503, { 'content-type': 'text/html' });
      response.end('busy');
    });
    expect(await failureOf(clientOf(gateway).replay('tc_1'))).toMatchObject({
      code: 'bad_response',
      status: 503,
    });
    expect(gateway.seen).toHaveLength(1);
  });
});
