import { describe, expect, it } from 'vitest';
import {
  aCall,
  clientOf,
  failureOf,
  fakeServer,
  json,
  problem,
  receipt,
  running,
  swiftClock,
  UNHURRIED,
} from '../../test/fake-server.ts';
import { NetworkError, ToolCallFailed } from '../index.ts';

describe('invoke', () => {
  it('sends run, arguments, agent and credential, and returns the receipt', async () => {
    const server = await fakeServer((_seen, response) => json(response, 202, receipt));
    const client = clientOf(server, {
      key: () => 'pb_secret',
      agentId: 'agent-7',
      headers: { 'x-trace-id': 't1' },
    });
    expect(await client.invoke('demo.echo', { a: 1 }, { target: 'phone' })).toEqual(receipt);
    const [seen] = server.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/v1/tools/demo.echo/invoke',
      body: { run_id: 'run_1', args: { a: 1 }, target: 'phone' },
      headers: {
        authorization: 'Bearer pb_secret',
        'x-agent-id': 'agent-7',
        'x-trace-id': 't1',
        'content-type': 'application/json',
      },
    });
    expect(seen!.headers['prefer']).toBeUndefined();
  });

  it('retries with the same idempotency key and body when the response was lost', async () => {
    const server = await fakeServer((_seen, response, count) => {
      if (count === 1) response.destroy();
      else json(response, 202, receipt);
    });
    await clientOf(server).invoke('demo.echo', { a: 1 });
    const [first, second] = server.seen;
    expect(server.seen).toHaveLength(2);
    expect(second!.headers['idempotency-key']).toMatch(/^.{16,}$/);
    expect(second!.headers['idempotency-key']).toBe(first!.headers['idempotency-key']);
    expect(second!.body).toEqual(first!.body);
  });

  it('retries when the response was truncated', async () => {
    const server = await fakeServer((_seen, response, count) => {
      if (count > 1) return json(response, 202, receipt);
      response.writeHead(202, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"tool_call', () => response.destroy());
    });
    expect(await clientOf(server).invoke('demo.echo')).toEqual(receipt);
    expect(server.seen[1]!.headers['idempotency-key']).toBe(server.seen[0]!.headers['idempotency-key']);
  });

  it('generates an idempotency key per call unless the caller passes one', async () => {
    const server = await fakeServer((_seen, response) => json(response, 202, receipt));
    const client = clientOf(server);
    await client.invoke('demo.echo');
    await client.invoke('demo.echo');
    await client.invoke('demo.echo', {}, { idempotencyKey: 'order-9', runId: 'run_2' });
    const keys = server.seen.map((seen) => seen.headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('order-9');
    expect(server.seen[2]!.body).toMatchObject({ run_id: 'run_2' });
  });

  it('waits for the time in Retry-After', async () => {
    const server = await fakeServer((_seen, response, count) => {
      if (count === 1) problem(response, 503, 'queue_full', { retryable: true }, { 'retry-after': '7' });
      else if (count === 2)
        problem(response, 429, 'rate_limited', { retryable: true }, { 'retry-after': '9' });
      else json(response, 202, receipt);
    });
    const clock = swiftClock();
    expect(await clientOf(server, { clock }).invoke('demo.echo')).toEqual(receipt);
    const pauses = clock.asked.filter((ms) => ms < UNHURRIED.requestTimeoutMs);
    expect(pauses).toHaveLength(2);
    expect(pauses[0]).toBeGreaterThanOrEqual(7000);
    expect(pauses[1]).toBeGreaterThanOrEqual(9000);
  });

  it('does not retry when Retry-After exceeds the limit', async () => {
    const server = await fakeServer((_seen, response) =>
      problem(response, 429, 'rate_limited', { retryable: true }, { 'retry-after': '3600' }),
    );
    const error = await failureOf(clientOf(server).invoke('demo.echo'));
    expect(error).toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    expect(server.seen).toHaveLength(1);
  });

  it('stops after the configured number of retries', async () => {
    const server = await fakeServer((_seen, response) =>
      problem(response, 503, 'overloaded', { retryable: true }),
    );
    const error = await failureOf(clientOf(server, { retry: { retries: 2 } }).invoke('demo.echo'));
    expect(error.code).toBe('overloaded');
    expect(server.seen).toHaveLength(3);
  });

  it('does not retry an error that is not retryable', async () => {
    const server = await fakeServer((_seen, response) => problem(response, 503, 'sandbox_unavailable'));
    expect((await failureOf(clientOf(server).invoke('bash_run'))).code).toBe('sandbox_unavailable');
    expect(server.seen).toHaveLength(1);
  });

  it('reports each invalid argument', async () => {
    const errors = [{ path: '/a', message: 'must be a number' }];
    const server = await fakeServer((_seen, response) =>
      problem(response, 422, 'input_invalid', { errors, recommendations: ['see the schema'] }),
    );
    expect(await failureOf(clientOf(server).invoke('demo.echo'))).toMatchObject({
      kind: 'problem',
      code: 'input_invalid',
      status: 422,
      detail: 'input_invalid!',
      issues: errors,
      recommendations: ['see the schema'],
    });
  });

  it('names the server when it cannot be reached', async () => {
    const server = await fakeServer(() => undefined);
    await server.stop();
    const error = await failureOf(clientOf(server).invoke('demo.echo'));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.message).toContain(server.url);
    expect(error.message).toContain('ECONNREFUSED');
  });
});

describe('call', () => {
  it('needs one request for a quick call', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, aCall()));
    expect((await clientOf(server).call('demo.echo', { a: 1 })).result).toEqual({ value: 42 });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]!.headers['prefer']).toBe('wait=25, input=none');
  });

  it('continues with long polls for a slow call', async () => {
    const server = await fakeServer((seen, response, count) => {
      if (seen.method === 'POST') json(response, 202, receipt);
      else json(response, 200, count < 4 ? running : aCall());
    });
    expect((await clientOf(server).call('demo.echo')).status).toBe('SUCCEEDED');
    expect(server.seen.map((seen) => seen.method)).toEqual(['POST', 'GET', 'GET', 'GET']);
    expect(server.seen.at(-1)).toMatchObject({
      path: '/v1/tool_calls/tc_1',
      headers: { prefer: 'wait=25, input=none' },
    });
  });

  it('throws the record of a failed call, or returns it with throwOnFailure: false', async () => {
    const failed = aCall({
      status: 'FAILED',
      state: 'FAILED',
      result: null,
      error: {
        code: 'tool_failed',
        message: 'no such city',
        retryable: false,
        recommendations: ['try Beijing'],
      },
    });
    const server = await fakeServer((_seen, response) => json(response, 200, failed));
    const error = await failureOf(clientOf(server).call('weather.query'));
    expect(error).toBeInstanceOf(ToolCallFailed);
    expect((error as ToolCallFailed).call).toEqual(failed);
    expect(error).toMatchObject({
      kind: 'tool_call',
      code: 'tool_failed',
      message: 'no such city',
      toolCallId: 'tc_1',
      state: 'FAILED',
      recommendations: ['try Beijing'],
    });
    expect(await clientOf(server).call('weather.query', {}, { throwOnFailure: false })).toEqual(failed);
  });

  it('fetches the record of a call that was denied', async () => {
    const denied = aCall({
      status: 'FAILED',
      state: 'DENIED',
      error: { code: 'permission_denied', message: 'permission denied', retryable: false },
    });
    const server = await fakeServer((seen, response) => {
      if (seen.method === 'POST') problem(response, 403, 'permission_denied', { tool_call_id: 'tc_1' });
      else json(response, 200, denied);
    });
    expect(await clientOf(server).call('bash_run', {}, { throwOnFailure: false })).toEqual(denied);
    const error = await failureOf(clientOf(server).call('bash_run'));
    expect(error).toBeInstanceOf(ToolCallFailed);
    expect(error.code).toBe('permission_denied');
  });
});

describe('runReply', () => {
  it('sends the given wait time, including 0', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, { results: [], calls: [] }));
    const client = clientOf(server);
    await client.runReply('anthropic', []);
    await client.runReply('anthropic', [], { waitSeconds: 0 });
    expect(server.seen.map(({ headers }) => headers['prefer'])).toEqual(['wait=25', 'wait=0']);
  });
});
