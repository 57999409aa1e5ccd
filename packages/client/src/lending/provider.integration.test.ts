import { describe, expect, it } from 'vitest';
import { clientOf, drop, fakeServer, json, openSse, problem } from '../../test/fake-server.ts';
import { PatchboardError } from '../index.ts';

function requestFor(attempt: number, id = 'tc_1'): Record<string, unknown> {
  return {
    tool_call_id: id,
    tool_name: 'camera',
    args: { quality: 'high' },
    timeout_ms: 30_000,
    attempt,
    attempt_token: `${id}/${attempt}`,
    deadline_at: '2026-01-01T00:00:30.000Z',
  };
}

describe('provider', () => {
  it('registers tools in the wire format and returns the rejected ones', async () => {
    const body = {
      ok: false,
      registered_count: 0,
      rejected: [{ name: 'camera', code: 'name_taken', reason: 'x' }],
    };
    const server = await fakeServer((_seen, response) => json(response, 200, body));
    const schema = { type: 'object' };
    const registered = await clientOf(server)
      .provider('phone 1')
      .register([
        {
          name: 'camera',
          schema,
          timeoutMs: 5000,
          outputSchema: true,
          annotations: { requiresApproval: true },
        },
        { name: 'torch', schema, description: 'light' },
      ]);
    expect(registered).toEqual(body);
    expect(server.seen[0]).toMatchObject({
      path: '/internal/tools/register',
      headers: { 'x-client-id': 'phone 1' },
    });
    expect(server.seen[0]!.body).toEqual({
      client_id: 'phone 1',
      tools: [
        {
          name: 'camera',
          schema,
          timeout_ms: 5000,
          output_schema: true,
          annotations: { requires_approval: true },
        },
        { name: 'torch', schema, description: 'light' },
      ],
    });
  });

  it('unregisters one tool or all of them, also when the response is empty', async () => {
    const server = await fakeServer((_seen, response) => {
      response.writeHead(204);
      response.end();
    });
    const provider = clientOf(server).provider('phone 1');
    await provider.unregister('camera');
    await provider.unregister();
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'DELETE /internal/clients/phone%201/tools/camera',
      'DELETE /internal/clients/phone%201/tools',
    ]);
  });

  it('treats a tool that does not exist as unregistered', async () => {
    const server = await fakeServer((_seen, response, count) => {
      if (count === 1) response.destroy();
      else problem(response, 404, 'tool_not_found');
    });
    await clientOf(server).provider('phone').unregister('camera');
    expect(server.seen).toHaveLength(2);
  });

  it('yields each attempt once although the server repeats open requests', async () => {
    const server = await fakeServer(async (_seen, response, count) => {
      const send = openSse(response);
      send(undefined, 'tool_request', requestFor(1));
      if (count === 1) return drop(response);
      send(undefined, 'something_new', { of: 'a later server' });
      send(undefined, 'tool_request', requestFor(2));
      send(undefined, 'tool_request', requestFor(1, 'tc_2'));
    });
    const tokens: string[] = [];
    for await (const request of clientOf(server).provider('phone').requests()) {
      tokens.push(request.attempt_token);
      if (tokens.length === 3) break;
    }
    expect(tokens).toEqual(['tc_1/1', 'tc_1/2', 'tc_2/1']);
    await server.seen[1]!.closed;
  });

  it('throws for a malformed request', async () => {
    const server = await fakeServer((_seen, response) =>
      openSse(response)(undefined, 'tool_request', { tool_call_id: 7 }),
    );
    const error: unknown = await clientOf(server)
      .provider('phone')
      .requests()
      .next()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PatchboardError);
    expect((error as Error).message).toContain('"tool_call_id" is not a string');
  });

  it('sends the attempt token with ack, progress and submit', async () => {
    const body = { ok: true, tool_call_id: 'tc_1', status: 'SUCCEEDED' };
    const server = await fakeServer((_seen, response) => json(response, 200, body));
    const provider = clientOf(server).provider('phone');
    const attemptToken = 'tc_1/1';
    await provider.ack('tc_1', { attemptToken });
    await provider.progress('tc_1', { percent: 5 }, { attemptToken });
    await provider.submit('tc_1', { status: 'SUCCEEDED', result: null }, { attemptToken });
    await provider.submit('tc_1', { status: 'FAILED', error: 'no light' });
    expect(server.seen.map(({ path, body }) => [path, body])).toEqual([
      ['/internal/tool_calls/tc_1/ack', { attempt_token: attemptToken, program_id: expect.any(String) }],
      ['/internal/tool_calls/tc_1/progress', { data: { percent: 5 }, attempt_token: attemptToken }],
      [
        '/internal/tool_calls/tc_1/submit',
        { status: 'SUCCEEDED', result: null, attempt_token: attemptToken },
      ],
      ['/internal/tool_calls/tc_1/submit', { status: 'FAILED', error: 'no light' }],
    ]);
  });

  it('retries submit after a lost response, but not progress', async () => {
    const body = { ok: true, tool_call_id: 'tc_1', status: 'SUCCEEDED' };
    const server = await fakeServer((seen, response, count) => {
      if (count === 1 || seen.path.endsWith('progress')) response.destroy();
      else json(response, 200, body);
    });
    const provider = clientOf(server).provider('phone');
    expect(await provider.submit('tc_1', { status: 'SUCCEEDED', result: 1 })).toEqual(body);
    await expect(provider.progress('tc_1', {})).rejects.toMatchObject({ kind: 'network' });
    expect(server.seen).toHaveLength(3);
  });

  it('throws with the current state when a result comes too late', async () => {
    const server = await fakeServer((_seen, response) =>
      problem(response, 409, 'conflict', { state: 'TIMED_OUT' }),
    );
    const late = clientOf(server).provider('phone').submit('tc_1', { status: 'SUCCEEDED', result: 1 });
    await expect(late).rejects.toMatchObject({ code: 'conflict', state: 'TIMED_OUT' });
  });
});
