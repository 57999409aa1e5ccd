import { describe, expect, it } from 'vitest';
import type { CallRequest } from '../../core/call/call-request.ts';
import { NotStarted, ConnectionLost, ResponseTooLarge } from './mcp-connection.ts';
import {
  anMcpUpstream,
  failureOf,
  me,
  SECRET,
  valueOf,
} from '../../../test/upstreams/support/an-mcp-upstream.ts';
import {
  hangs,
  rejects,
  responds,
  respondsError,
} from '../../../test/upstreams/support/scripted-connection.ts';

const DONE = responds({ content: [{ type: 'text', text: 'done' }] });
const offline = (): NotStarted => new NotStarted('connect ECONNREFUSED', { mayRetry: true });

describe('the request', () => {
  it('names the tool as the upstream does, with key, trace, progress token and hops', async () => {
    const { call, connection, upstream } = await anMcpUpstream([DONE]);
    const given: Partial<CallRequest> = {
      args: { q: 'cats' },
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
    };
    const { id } = await call(given);
    const [request] = connection.requests;
    expect(request?.method).toBe('tools/call');
    expect(request?.params).toEqual({
      name: 'search',
      arguments: { q: 'cats' },
      _meta: {
        'io.modelcontextprotocol/logLevel': 'warning',
        'patchboard/idempotency_key': id,
        'patchboard/hops': 1,
        progressToken: id,
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
    });
    expect(upstream.status().inFlight).toBe(0);
  });

  it('repeats annotated arguments in headers, encoded where necessary', async () => {
    const header = (name: string, type: string) => ({ type, 'x-mcp-header': name });
    const { call, connection } = await anMcpUpstream([DONE], {
      tool: {
        inputSchema: {
          type: 'object',
          properties: {
            region: header('Region', 'string'),
            place: header('Place', 'string'),
            page: header('Page', 'integer'),
            deep: { type: 'object', properties: { dry: header('Dry', 'boolean') } },
            absent: header('Absent', 'string'),
          },
        },
      },
    });
    await call({ args: { region: 'eu', place: 'Köln', page: 2, deep: { dry: true } } });
    expect(connection.requests[0]?.headers).toEqual({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Place': '=?base64?S8O2bG4=?=',
      'Mcp-Param-Page': '2',
      'Mcp-Param-Dry': 'true',
    });
  });

  it('counts the gateways, and is not sent by the fourth', async () => {
    const { call, connection } = await anMcpUpstream([DONE]);
    await call({ origin: { hops: 2 } });
    expect(connection.requests[0]?.params['_meta']).toMatchObject({ 'patchboard/hops': 3 });
    const refused = failureOf(await call({ origin: { hops: 3 } }));
    expect(refused).toMatchObject({ code: 'tool_failed', outcome: 'not_started', retryable: false });
    expect(refused.message).toContain('3 gateways have passed the call on');
    expect(connection.requests).toHaveLength(1);
  });
});

describe('a result', () => {
  it('is a failure of the tool if it is an error, with its text and its blocks', async () => {
    const blocks = [
      { type: 'text', text: 'no such repository' },
      { type: 'image', data: 'AAEC', mimeType: 'image/png' },
    ];
    const { call } = await anMcpUpstream([responds({ content: blocks, isError: true })]);
    const failed = failureOf(await call());
    expect(failed).toMatchObject({
      code: 'tool_failed',
      message: 'no such repository\n[image/png, 3 B]',
      toolResult: { 'patchboard:content': blocks },
    });
    expect(failed.outcome).toBeUndefined();
  });

  it('keeps the outcome that an upstream Patchboard reports', async () => {
    const meta = { 'patchboard/error': { code: 'provider_disconnected', outcome: 'unknown' } };
    const { call } = await anMcpUpstream([
      responds({ content: [{ type: 'text', text: 'the device left' }], isError: true, _meta: meta }),
    ]);
    expect(failureOf(await call())).toMatchObject({ code: 'tool_failed', outcome: 'unknown' });
  });

  it.each([
    ['without content', {}],
    ['with content that is no list', { content: 'done' }],
    ['of an unknown type', { resultType: 'riddle', content: [] }],
    ['of a task without an id', { resultType: 'task' }],
  ])('%s cannot be read, and the outcome is unknown', async (_what, result) => {
    const { call } = await anMcpUpstream([responds(result)]);
    expect(failureOf(await call())).toMatchObject({ code: 'result_invalid', outcome: 'unknown' });
  });

  it('without the structured content that its schema promises is invalid', async () => {
    const { call } = await anMcpUpstream([DONE], { tool: { outputSchema: { type: 'object' } } });
    expect(failureOf(await call())).toMatchObject({ code: 'output_invalid', outcome: 'unknown' });
  });
});

describe('a JSON-RPC error', () => {
  it.each([
    [-32_603, 0],
    [-32_601, 1],
    [-32_602, 1],
  ])('%i is a failure of the tool; the list is read again %i times', async (code, refreshes) => {
    const { call, connection } = await anMcpUpstream([respondsError(code, `broken by ${SECRET}`)]);
    const failed = failureOf(await call());
    expect(failed).toMatchObject({ code: 'tool_failed', retryable: false });
    expect(failed.message).toBe(`upstream github returned error ${code}: broken by [redacted]`);
    expect(connection.refreshes).toBe(refreshes);
  });

  it.each([
    [{ elicitation: { form: {} } }, 'form'],
    [{ elicitation: { url: {} } }, 'url'],
    [{ sampling: {} }, 'sampling'],
    [{ roots: {} }, 'roots'],
  ])('-32021 with %j says which input is missing', async (requiredCapabilities, kind) => {
    const { call } = await anMcpUpstream([respondsError(-32_021, 'missing', { requiredCapabilities })]);
    const failed = failureOf(await call());
    expect(failed.code).toBe('input_unavailable');
    expect(failed.reasons).toEqual([
      { code: 'input_caller_cannot', params: { tool: 'github.search', kind } },
    ]);
  });
});

describe('a request that certainly did not start', () => {
  it('is sent again, whatever the tool is', async () => {
    const { call, connection, clock, read } = await anMcpUpstream([
      rejects(offline()),
      rejects(new NotStarted('unknown session', { mayRetry: true, status: 404 })),
      rejects(new NotStarted('too many', { mayRetry: true, status: 429, retryAfterMs: 20_000 })),
      DONE,
    ]);
    const { id } = await call();
    await clock.advance(250 + 500);
    expect(connection.requests).toHaveLength(3);
    await clock.advance(20_000);
    expect(valueOf(await read(id))).toBe('done');
  });

  it('fails as offline after five seconds, not started', async () => {
    const { call, clock, read } = await anMcpUpstream(Array.from({ length: 20 }, () => rejects(offline())));
    const { id } = await call();
    await clock.advance(5000);
    expect(failureOf(await read(id))).toMatchObject({
      code: 'provider_offline',
      outcome: 'not_started',
      retryable: true,
      message: 'upstream github cannot be reached: connect ECONNREFUSED',
    });
  });

  it('fails before the deadline, because a timeout would say that it may have started', async () => {
    const busy = rejects(new NotStarted('too many', { mayRetry: true, status: 429 }));
    const { call, clock, read } = await anMcpUpstream(Array.from({ length: 30 }, () => busy));
    const { id } = await call();
    await clock.advance(60_000);
    expect(failureOf(await read(id))).toMatchObject({
      code: 'upstream_unreachable',
      outcome: 'not_started',
      message: 'upstream github refused the request with HTTP status 429: too many',
    });
  });

  it('fails before the deadline while it waits for a connection', async () => {
    const { call, connection, clock, read } = await anMcpUpstream([hangs]);
    connection.isOnline = false;
    const { id } = await call({ timeoutMs: 1000 });
    await clock.advance(1000);
    expect(failureOf(await read(id))).toMatchObject({
      code: 'provider_offline',
      outcome: 'not_started',
      message: 'upstream github cannot be reached: no connection was free before the deadline',
    });
  });

  it.each([400, 404])('is sent in new sessions twice at most if each is refused with %i', async (status) => {
    const unknown = rejects(new NotStarted('unknown session', { mayRetry: true, status }));
    const { call, connection, clock, read } = await anMcpUpstream(Array.from({ length: 30 }, () => unknown));
    const { id } = await call();
    await clock.advance(5000);
    expect(failureOf(await read(id))).toMatchObject({ code: 'upstream_unreachable', outcome: 'not_started' });
    expect(connection.requests).toHaveLength(3);
  });

  it('is not sent again after 401', async () => {
    const { call, connection } = await anMcpUpstream([
      rejects(new NotStarted(`bad token ${SECRET}`, { mayRetry: false, status: 401 })),
    ]);
    expect(failureOf(await call())).toMatchObject({
      code: 'upstream_unreachable',
      outcome: 'not_started',
      message: 'upstream github refused the request with HTTP status 401: bad token [redacted]',
    });
    expect(connection.requests).toHaveLength(1);
  });
});

describe('a connection that is lost after the request was sent', () => {
  const lost = rejects(new ConnectionLost(`socket hang up ${SECRET}`));

  it('leaves the outcome unknown, and the call is not repeated', async () => {
    const { call, connection, clock, read } = await anMcpUpstream([lost, DONE]);
    const { id } = await call();
    await clock.advance(60_000);
    const ended = await read(id);
    expect(ended.state.name).toBe('FAILED');
    expect(failureOf(ended)).toMatchObject({
      code: 'provider_disconnected',
      outcome: 'unknown',
      retryable: false,
      message:
        'upstream github sent no response, and the call may have taken effect: socket hang up [redacted]',
    });
    expect(connection.requests).toHaveLength(1);
  });

  it('repeats the call of an idempotent tool with the same key, at most as often as others', async () => {
    const { call, connection, clock, read } = await anMcpUpstream([lost, lost, lost, lost, lost], {
      tool: { annotations: { idempotentHint: true } },
      engine: { limits: { maxAttempts: 3 } },
    });
    const { id } = await call();
    await clock.advance(60_000);
    expect(failureOf(await read(id))).toMatchObject({ code: 'provider_disconnected', retryable: true });
    const keys = connection.requests.map(
      ({ params }) => (params['_meta'] as Record<string, unknown>)['patchboard/idempotency_key'],
    );
    expect(keys).toEqual([id, id, id]);
  });

  it('stays unknown if the upstream cannot be reached for the next attempt', async () => {
    const { call, clock, read } = await anMcpUpstream(
      [lost, ...Array.from({ length: 40 }, () => rejects(offline()))],
      {
        tool: { annotations: { idempotentHint: true } },
        engine: { limits: { maxAttempts: 2 } },
      },
    );
    const { id } = await call();
    await clock.advance(60_000);
    expect(failureOf(await read(id))).toMatchObject({
      code: 'provider_offline',
      outcome: 'unknown',
      retryable: true,
    });
  });

  it('is told apart from a response that is too large', async () => {
    const { call } = await anMcpUpstream([rejects(new ResponseTooLarge('over 4194304 bytes'))]);
    expect(failureOf(await call())).toMatchObject({ code: 'result_too_large', outcome: 'unknown' });
  });
});

describe('a call that is stopped', () => {
  it('aborts the request at its deadline', async () => {
    const { call, connection, clock, read } = await anMcpUpstream([hangs]);
    const { id } = await call();
    expect(connection.requests[0]?.signal.aborted).toBe(false);
    await clock.advance(60_000);
    const ended = await read(id);
    expect([ended.state.name, failureOf(ended).code, failureOf(ended).outcome]).toEqual([
      'TIMED_OUT',
      'timeout',
      'unknown',
    ]);
    expect(connection.requests[0]?.signal.aborted).toBe(true);
  });

  it('aborts the request if its caller cancels it, also while it waits to be sent again', async () => {
    const { call, connection, engine, clock, read } = await anMcpUpstream([hangs, rejects(offline()), DONE]);
    const running = await call();
    await engine.calls.cancel(me, running.id);
    expect((await read(running.id)).state.name).toBe('CANCELLED');
    expect(connection.requests[0]?.signal.aborted).toBe(true);
    const waiting = await call();
    await engine.calls.cancel(me, waiting.id);
    await clock.advance(10_000);
    expect((await read(waiting.id)).state.name).toBe('CANCELLED');
    expect(connection.requests).toHaveLength(2);
  });
});
