import { describe, expect, it } from 'vitest';
import {
  anMcpUpstream,
  failureOf,
  me,
  SECRET,
  valueOf,
  type UpstreamFixture,
} from '../../../test/upstreams/support/an-mcp-upstream.ts';
import {
  rejects,
  responds,
  respondsError,
  type Step,
} from '../../../test/upstreams/support/scripted-connection.ts';
import { ConnectionLost, NotStarted, ResponseTooLarge } from './mcp-connection.ts';

const CREATED = responds({ resultType: 'task', taskId: 't1', status: 'working', pollIntervalMs: 2000 });
const COMPLETED = task({
  status: 'completed',
  result: { resultType: 'complete', content: [{ type: 'text', text: `done ${SECRET}` }] },
});

function task(given: Readonly<Record<string, unknown>>): Step {
  return responds({ taskId: 't1', pollIntervalMs: 2000, ...given });
}

function methodsOf({ connection }: UpstreamFixture): string[] {
  return connection.requests.map(({ method }) => method);
}

describe('a call that the upstream runs as a task', () => {
  it('is polled at the interval of the upstream until it has ended', async () => {
    const fixture = await anMcpUpstream([CREATED, task({ status: 'working' }), COMPLETED]);
    const { id } = await fixture.call();
    await fixture.clock.advance(1999);
    expect(methodsOf(fixture)).toEqual(['tools/call']);
    await fixture.clock.advance(1);
    expect(fixture.connection.requests[1]).toMatchObject({ method: 'tasks/get', params: { taskId: 't1' } });
    await fixture.clock.advance(2000);
    expect(valueOf(await fixture.read(id))).toBe('done [redacted]');
    expect(methodsOf(fixture)).toEqual(['tools/call', 'tasks/get', 'tasks/get']);
  });

  it.each([
    ['too short', 1, 250],
    ['too long', 3_600_000, 30_000],
    ['absent', undefined, 1000],
  ])('is polled within bounds if the interval is %s', async (_what, pollIntervalMs, expectedMs) => {
    const created = responds({ resultType: 'task', taskId: 't1', status: 'working', pollIntervalMs });
    const fixture = await anMcpUpstream([created, COMPLETED]);
    await fixture.call();
    await fixture.clock.advance(expectedMs - 1);
    expect(methodsOf(fixture)).toEqual(['tools/call']);
    await fixture.clock.advance(1);
    expect(methodsOf(fixture)).toEqual(['tools/call', 'tasks/get']);
  });

  it('goes on if the connection fails while it is polled', async () => {
    const fixture = await anMcpUpstream([
      CREATED,
      rejects(new ConnectionLost('socket hang up')),
      rejects(new NotStarted('connect ECONNREFUSED', { mayRetry: true })),
      COMPLETED,
    ]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000 + 3000 + 3000);
    expect(valueOf(await fixture.read(id))).toBe('done [redacted]');
  });

  it.each([
    ['is unknown there by now', respondsError(-32_602, `no such task ${SECRET}`), 'no longer has the task'],
    ['cannot be read any more', rejects(new NotStarted('401', { mayRetry: false, status: 401 })), '401'],
  ])('has an unknown outcome if it %s', async (_what, step, message) => {
    const fixture = await anMcpUpstream([CREATED, step]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000);
    const failed = failureOf(await fixture.read(id));
    expect(failed).toMatchObject({ code: 'provider_disconnected', outcome: 'unknown' });
    expect(failed.message).toContain(message);
    expect(failed.message).not.toContain(SECRET);
  });

  it('is told apart from one whose result is too large', async () => {
    const fixture = await anMcpUpstream([CREATED, rejects(new ResponseTooLarge('over 4194304 bytes'))]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000);
    expect(failureOf(await fixture.read(id))).toMatchObject({ code: 'result_too_large', outcome: 'unknown' });
  });

  it.each([
    ['fails', { status: 'failed', error: { code: -32_603, message: 'broken' } }, 'error -32603: broken'],
    ['is cancelled there', { status: 'cancelled' }, 'the task was cancelled at upstream github'],
    [
      'reports an error',
      { status: 'completed', result: { content: [{ type: 'text', text: 'no' }], isError: true } },
      'no',
    ],
  ])('fails if it %s', async (_what, given, message) => {
    const fixture = await anMcpUpstream([CREATED, task(given)]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000);
    const failed = failureOf(await fixture.read(id));
    expect(failed.code).toBe('tool_failed');
    expect(failed.message).toContain(message);
  });

  it.each([
    ['no status', {}],
    ['no result', { status: 'completed' }],
  ])('with %s cannot be read', async (_what, given) => {
    const fixture = await anMcpUpstream([CREATED, task(given)]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000);
    expect(failureOf(await fixture.read(id))).toMatchObject({ code: 'result_invalid', outcome: 'unknown' });
  });

  it('is cancelled there if its caller cancels the call', async () => {
    const fixture = await anMcpUpstream([CREATED, responds({})]);
    const { id } = await fixture.call();
    await fixture.engine.calls.cancel(me, id);
    expect((await fixture.read(id)).state.name).toBe('CANCELLED');
    expect(fixture.connection.requests[1]).toMatchObject({
      method: 'tasks/cancel',
      params: { taskId: 't1' },
    });
    expect(fixture.connection.requests[1]?.signal.aborted).toBe(false);
  });

  it('is cancelled there at the deadline, which also a failing cancel does not change', async () => {
    const working = Array.from({ length: 29 }, () => task({ status: 'working' }));
    const fixture = await anMcpUpstream([CREATED, ...working, rejects(new ConnectionLost('gone'))]);
    const { id } = await fixture.call();
    await fixture.clock.advance(60_000);
    expect((await fixture.read(id)).state.name).toBe('TIMED_OUT');
    expect(methodsOf(fixture).at(-1)).toBe('tasks/cancel');
  });
});

describe('a task that requires input', () => {
  const FORM = { method: 'elicitation/create', params: { message: 'Which city?' } };

  it('asks the caller, and gets the response by tasks/update', async () => {
    const fixture = await anMcpUpstream([
      CREATED,
      task({ status: 'input_required', inputRequests: { city: FORM } }),
      responds({}),
      // The response may not be in effect yet.
      task({ status: 'input_required', inputRequests: { city: FORM } }),
      COMPLETED,
    ]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000);
    const waiting = await fixture.read(id);
    expect([waiting.state.name, waiting.inputs[0]?.message]).toEqual([
      'INPUT_REQUIRED',
      'github: Which city?',
    ]);
    await fixture.engine.calls.respond(me, id, { id: 'in_1', action: 'accept', content: { city: 'Oslo' } });
    await fixture.read(id);
    await fixture.clock.advance(2000);
    expect(valueOf(await fixture.read(id))).toBe('done [redacted]');
    expect(methodsOf(fixture)).toEqual(['tools/call', 'tasks/get', 'tasks/update', 'tasks/get', 'tasks/get']);
    expect(fixture.connection.requests[2]?.params).toEqual({
      taskId: 't1',
      inputResponses: { city: { action: 'accept', content: { city: 'Oslo' } } },
    });
  });

  it.each([
    ['its caller cancels the call', 'CANCELLED'],
    ['the caller does not respond in time', 'TIMED_OUT'],
  ])('is cancelled there if %s', async (_what, state) => {
    const fixture = await anMcpUpstream([
      CREATED,
      task({ status: 'input_required', inputRequests: { city: FORM } }),
      responds({}),
    ]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000);
    expect((await fixture.read(id)).state.name).toBe('INPUT_REQUIRED');
    if (state === 'CANCELLED') await fixture.engine.calls.cancel(me, id);
    else await fixture.clock.advance(fixture.engine.limits.inputExpiryMs);
    expect((await fixture.read(id)).state.name).toBe(state);
    expect(methodsOf(fixture)).toEqual(['tools/call', 'tasks/get', 'tasks/cancel']);
    expect(fixture.connection.requests[2]?.params).toEqual({ taskId: 't1' });
  });

  it('has an unknown outcome if the response cannot be sent', async () => {
    const fixture = await anMcpUpstream([
      CREATED,
      task({ status: 'input_required', inputRequests: { city: FORM } }),
      rejects(new NotStarted('bad token', { mayRetry: false, status: 401 })),
    ]);
    const { id } = await fixture.call();
    await fixture.clock.advance(2000);
    await fixture.engine.calls.respond(me, id, { id: 'in_1', action: 'accept', content: { city: 'Oslo' } });
    expect(failureOf(await fixture.read(id))).toMatchObject({
      code: 'upstream_unreachable',
      outcome: 'unknown',
      retryable: false,
    });
  });
});
