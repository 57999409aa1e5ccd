import { describe, expect, it } from 'vitest';
import {
  anMcpUpstream,
  failureOf,
  me,
  SECRET,
  valueOf,
} from '../../../test/upstreams/support/an-mcp-upstream.ts';
import { rejects, responds, type Step } from '../../../test/upstreams/support/scripted-connection.ts';
import { NotStarted } from './mcp-connection.ts';

const DONE = responds({ content: [{ type: 'text', text: 'done' }] });
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const FORM = {
  method: 'elicitation/create',
  params: { mode: 'form', message: `Which city? ${SECRET}`, requestedSchema: SCHEMA },
};
const LINK = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Log in', url: 'https://example.org/login', elicitationId: '1' },
};
const SAMPLING = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 10 },
};

function asks(inputRequests: unknown, requestState?: string): Step {
  return responds({ resultType: 'input_required', inputRequests, requestState });
}

describe('what an upstream may request', () => {
  it.each([
    ['forms and links', {}, true, { elicitation: { form: {}, url: {} } }],
    ['what this caller can give', {}, ['url'], { elicitation: { url: {} } }],
    ['nothing of a caller that gives nothing', {}, false, {}],
    ['nothing if its settings say so', { inputRequests: false, sampling: true }, true, {}],
    ['no sampling and no roots', {}, ['sampling', 'roots'], {}],
    ['sampling if its settings allow it', { sampling: true }, ['sampling', 'roots'], { sampling: {} }],
  ] as const)('is %s', async (_what, settings, acceptsInput, expected) => {
    const { call, connection } = await anMcpUpstream([DONE], { settings });
    await call({ acceptsInput });
    expect(connection.requests[0]?.capabilities).toEqual({
      ...expected,
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    });
  });

  it('is refused otherwise, although the caller could give it', async () => {
    const { call } = await anMcpUpstream([asks({ a: SAMPLING })]);
    const failed = failureOf(await call({ acceptsInput: ['form', 'sampling'] }));
    expect(failed.code).toBe('input_unavailable');
    expect(failed.reasons).toEqual([
      { code: 'upstream_may_not_ask', params: { upstream: 'github', kind: 'sampling' } },
    ]);
  });

  it('is refused if its method is unknown', async () => {
    const { call } = await anMcpUpstream([asks({ a: { method: 'purse/open' } })]);
    expect(failureOf(await call()).message).toContain('unknown method: purse/open');
  });
});

describe('an input request of an upstream', () => {
  it('reaches the caller under the name of the upstream, and its response continues the call', async () => {
    const { call, connection, engine, read } = await anMcpUpstream([
      asks({ city: FORM, login: LINK }, 'state-1'),
      DONE,
    ]);
    const waiting = await call();
    expect(waiting.state.name).toBe('INPUT_REQUIRED');
    expect(waiting.inputs.map(({ key, message, schema, url }) => ({ key, message, schema, url }))).toEqual([
      { key: 'city', message: 'github: Which city? [redacted]', schema: SCHEMA, url: null },
      { key: 'login', message: 'github: Log in', schema: null, url: 'https://example.org/login' },
    ]);
    await engine.calls.respond(me, waiting.id, { id: 'in_1', action: 'accept', content: { city: 'Oslo' } });
    await engine.calls.respond(me, waiting.id, { id: 'in_2', action: 'accept', content: null });
    const ended = await read(waiting.id);
    expect(valueOf(ended)).toBe('done');
    expect(connection.requests[1]?.params).toMatchObject({
      name: 'search',
      requestState: 'state-1',
      inputResponses: {
        city: { action: 'accept', content: { city: 'Oslo' } },
        login: { action: 'accept' },
      },
      _meta: { 'patchboard/idempotency_key': waiting.id },
    });
    expect(ended.timeline.filter(({ state }) => state === 'EXECUTING')).toHaveLength(2);
  });

  it('passes a declined response on, because the upstream decides what it means', async () => {
    const { call, connection, engine, read } = await anMcpUpstream([asks({ city: FORM }), DONE]);
    const { id } = await call();
    await engine.calls.respond(me, id, { id: 'in_1', action: 'decline', content: null });
    expect(valueOf(await read(id))).toBe('done');
    expect(connection.requests[1]?.params['inputResponses']).toEqual({ city: { action: 'decline' } });
    expect(connection.requests[1]?.params).not.toHaveProperty('requestState');
  });

  it('for sampling gets the result of the language model', async () => {
    const { call, connection, engine, read } = await anMcpUpstream([asks({ a: SAMPLING }), DONE], {
      settings: { sampling: true },
    });
    const { id } = await call({ acceptsInput: ['sampling'] });
    const content = { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'm' };
    await engine.calls.respond(me, id, { id: 'in_1', action: 'accept', content });
    expect(valueOf(await read(id))).toBe('done');
    expect(connection.requests[1]?.params['inputResponses']).toEqual({ a: content });
  });

  it('may be one of several rounds, each with its own state', async () => {
    const { call, connection, engine, read } = await anMcpUpstream([
      asks({ city: FORM }, 'one'),
      asks({ city: FORM }, 'two'),
      DONE,
    ]);
    const { id } = await call();
    await engine.calls.respond(me, id, { id: 'in_1', action: 'accept', content: { city: 'Oslo' } });
    await read(id);
    await engine.calls.respond(me, id, { id: 'in_2', action: 'accept', content: { city: 'Rome' } });
    expect(valueOf(await read(id))).toBe('done');
    expect(
      connection.requests.map(({ params: { requestState, inputResponses } }) => [
        requestState,
        inputResponses,
      ]),
    ).toEqual([
      [undefined, undefined],
      ['one', { city: { action: 'accept', content: { city: 'Oslo' } } }],
      ['two', { city: { action: 'accept', content: { city: 'Rome' } } }],
    ]);
  });

  it('without requests repeats the request with its state', async () => {
    const { call, connection, clock, read } = await anMcpUpstream([
      responds({ resultType: 'input_required', requestState: 'wait' }),
      DONE,
    ]);
    const { id } = await call();
    await clock.advance(250);
    expect(valueOf(await read(id))).toBe('done');
    expect(connection.requests[1]?.params).toMatchObject({ requestState: 'wait' });
    expect(connection.requests[1]?.params).not.toHaveProperty('inputResponses');
  });

  it('with neither requests nor state is invalid, and the request is not repeated', async () => {
    const { call, connection, clock, read } = await anMcpUpstream([asks({}), DONE]);
    const { id } = await call();
    await clock.advance(60_000);
    expect(failureOf(await read(id))).toMatchObject({ code: 'result_invalid', outcome: 'unknown' });
    expect(connection.requests).toHaveLength(1);
  });

  describe('whose call cannot be continued', () => {
    const refused = rejects(new NotStarted('bad token', { mayRetry: false, status: 401 }));

    it('has an unknown outcome, because the upstream has begun', async () => {
      const { call, engine, read } = await anMcpUpstream([asks({ city: FORM }, 'state-1'), refused]);
      const { id } = await call();
      await engine.calls.respond(me, id, { id: 'in_1', action: 'accept', content: { city: 'Oslo' } });
      expect(failureOf(await read(id))).toMatchObject({
        code: 'upstream_unreachable',
        outcome: 'unknown',
        retryable: false,
      });
    });

    it('has one too if the upstream only wanted the request again', async () => {
      const { call, clock, read } = await anMcpUpstream([asks({}, 'waits for an operator'), refused]);
      const { id } = await call();
      await clock.advance(250);
      expect(failureOf(await read(id))).toMatchObject({
        code: 'upstream_unreachable',
        outcome: 'unknown',
        retryable: false,
      });
    });
  });
});

describe('an input request of an upstream of an older protocol version', () => {
  function asksDuringCall(method: string, params: Readonly<Record<string, unknown>>): Step {
    return async ({ onServerRequest }) => {
      const structuredContent = await onServerRequest?.(method, params).catch((error: Error) => ({
        refused: error.message,
      }));
      return { kind: 'result', result: { content: [], structuredContent } };
    };
  }

  it('is held, and responds to the server', async () => {
    const { call, engine, read } = await anMcpUpstream([asksDuringCall(FORM.method, FORM.params)]);
    const { id, inputs, state } = await call();
    expect([state.name, inputs[0]?.held, inputs[0]?.message]).toEqual([
      'INPUT_REQUIRED',
      true,
      'github: Which city? [redacted]',
    ]);
    await engine.calls.respond(me, id, { id: 'in_1', action: 'accept', content: { city: 'Oslo' } });
    expect(valueOf(await read(id))).toEqual({ action: 'accept', content: { city: 'Oslo' } });
  });

  it('passes a declined response on', async () => {
    const { call, engine, read } = await anMcpUpstream([asksDuringCall(LINK.method, LINK.params)]);
    const { id } = await call();
    await engine.calls.respond(me, id, { id: 'in_1', action: 'decline', content: null });
    expect(valueOf(await read(id))).toEqual({ action: 'decline' });
  });

  it.each([
    ['sampling', SAMPLING.method, SAMPLING.params],
    ['roots', 'roots/list', {}],
  ])('is refused for %s', async (kind, method, params) => {
    const { call } = await anMcpUpstream([asksDuringCall(method, params)]);
    const { refused } = valueOf(await call()) as { refused: string };
    expect(refused).toContain(`requested input (${kind}) that its settings do not allow`);
  });

  it('is not offered if the caller can give nothing', async () => {
    const { call, connection } = await anMcpUpstream([DONE]);
    await call({ acceptsInput: false });
    expect(connection.requests[0]?.onServerRequest).toBeUndefined();
  });
});
