import type { InputKind } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { asked, CITY, me, returning, stateOf } from '../../test/support/asking-tools.ts';
import type { CallRequest } from './call/call-request.ts';
import { openRequests, InputRequired, type InputRequest } from './call/input.ts';
import { kindOf, missingInputKind, normalizedInput } from './call/input-kinds.ts';
import type { ServerTool } from './tools/server-tool.ts';

const SAMPLING = {
  message: 'Summarise the page',
  sampling: {
    messages: [{ role: 'user', content: { type: 'text', text: 'a page' } }],
    maxTokens: 100,
    systemPrompt: 'be brief',
  },
} as const;
const ROOTS = { message: 'Which folders?', roots: true } as const;
const LINK = { message: 'Pay', url: 'https://pay.test/' } as const;
const REPLY = {
  role: 'assistant',
  content: { type: 'text', text: 'short' },
  model: 'm',
  stopReason: 'endTurn',
};
const ALL = ['form', 'url', 'sampling', 'roots'] as const;

function asking(request: InputRequest): ServerTool {
  return returning({
    execute: (_args, { inputs }) => inputs['it']?.content ?? new InputRequired({ it: request }),
  });
}

const accepting = (acceptsInput: CallRequest['acceptsInput']): Partial<CallRequest> =>
  acceptsInput === undefined ? {} : { acceptsInput };

describe('a request for a message of the caller’s model', () => {
  it('is recorded with its parameters and responded to with a result of sampling/createMessage', async () => {
    const fixture = await asked(asking(SAMPLING), {}, { acceptsInput: ALL });
    const { engine, call } = fixture;
    const [open] = openRequests(call);
    expect(open).toMatchObject({ id: 'in_1', ...SAMPLING, url: null });
    expect(kindOf(open!)).toBe('sampling');
    const response = { id: 'in_1', action: 'accept', content: REPLY } as const;
    expect(await engine.calls.respond(me, call.id, response)).toMatchObject({ ok: true });
    expect(await stateOf(fixture, call)).toMatchObject({ resultJson: JSON.stringify(REPLY) });
  });

  it.each([
    ['text', { ...REPLY, content: 'short' }],
    ['a block without its members', { ...REPLY, content: { type: 'image' } }],
    ['a list with an unknown block', { ...REPLY, content: [{ type: 'text', text: '' }, { type: 'video' }] }],
    ['another role', { ...REPLY, role: 'system' }],
    ['no model', { role: 'assistant', content: REPLY.content }],
    ['nothing', null],
  ])('refuses a result with %s, and keeps waiting', async (_what, content) => {
    const fixture = await asked(asking(SAMPLING), {}, { acceptsInput: ['sampling'] });
    const response = { id: 'in_1', action: 'accept', content } as const;
    expect(await fixture.engine.calls.respond(me, fixture.call.id, response)).toMatchObject({
      ok: false,
      failure: { code: 'input_invalid' },
    });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'INPUT_REQUIRED' });
  });

  it('takes several blocks, the use of a tool among them', async () => {
    const fixture = await asked(asking(SAMPLING), {}, { acceptsInput: ALL });
    const content = {
      ...REPLY,
      content: [REPLY.content, { type: 'tool_use', id: 'u', name: 'search', input: {} }],
    };
    const response = { id: 'in_1', action: 'accept', content } as const;
    expect(await fixture.engine.calls.respond(me, fixture.call.id, response)).toMatchObject({ ok: true });
  });

  it.each([
    ['without messages', { maxTokens: 1 }],
    ['without a bound', { messages: [] }],
    ['with a message that is text', { messages: ['hello'], maxTokens: 1 }],
  ])('fails the tool %s', async (_what, sampling) => {
    const request = { message: 'x', sampling: sampling as never };
    const fixture = await asked(asking(request), {}, { acceptsInput: ALL });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      name: 'FAILED',
      error: { code: 'tool_failed', message: expect.stringContaining('sampling') as string },
    });
  });

  it('is not larger than a content', async () => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'x'.repeat(70_000) } }];
    const request = { message: 'x', sampling: { messages, maxTokens: 1 } };
    const fixture = await asked(asking(request), {}, { acceptsInput: ALL });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      error: { reasons: [{ code: 'input_sampling_too_large', params: { bytes: 65_536 } }] },
    });
  });
});

describe('a request for the caller’s roots', () => {
  it('is responded to with a list of them', async () => {
    const fixture = await asked(asking(ROOTS), {}, { acceptsInput: ['roots'] });
    const { engine, call } = fixture;
    expect(openRequests(call)).toMatchObject([{ roots: true, url: null }]);
    const content = { roots: [{ uri: 'file:///home/me', name: 'home' }, { uri: 'file:///tmp' }] };
    const wrong = { id: 'in_1', action: 'accept', content: { roots: [{ name: 'home' }] } } as const;
    expect(await engine.calls.respond(me, call.id, wrong)).toMatchObject({
      failure: { code: 'input_invalid' },
    });
    expect(await engine.calls.respond(me, call.id, { ...wrong, content })).toMatchObject({ ok: true });
    expect(await stateOf(fixture, call)).toMatchObject({ resultJson: JSON.stringify(content) });
  });
});

describe('a caller', () => {
  const REQUESTS = { form: CITY, url: LINK, sampling: SAMPLING, roots: ROOTS };
  const CALLERS: readonly (readonly [CallRequest['acceptsInput'], readonly InputKind[]])[] = [
    [undefined, ['form', 'url']],
    [true, ['form', 'url']],
    [false, []],
    [[], []],
    [['url'], ['url']],
    [
      ['sampling', 'form'],
      ['form', 'sampling'],
    ],
    [ALL, ALL],
  ];

  it.each(CALLERS)('that accepts %j can be asked for %j only', async (accepted, kinds) => {
    for (const kind of ALL) {
      const fixture = await asked(asking(REQUESTS[kind]), {}, accepting(accepted));
      const state = await stateOf(fixture, fixture.call);
      if (kinds.includes(kind)) {
        expect(state.name).toBe('INPUT_REQUIRED');
        continue;
      }
      if (!('error' in state)) throw new Error(state.name);
      expect(state.error).toMatchObject({
        code: 'input_unavailable',
        reasons: [{ code: 'input_caller_cannot', params: { tool: 'ask', kind } }],
        message: expect.stringContaining(`(${kind})`) as string,
      });
      expect(missingInputKind(state.error)).toBe(kind);
    }
  });

  it.each(CALLERS)('that accepts %j is described to the tool', async (accepted, kinds) => {
    const tool = returning();
    await asked(tool, {}, accepting(accepted));
    expect(tool.runs[0]?.acceptsInputKinds).toEqual(kinds);
    expect(tool.runs[0]?.acceptsInput).toBe(kinds.includes('form'));
  });

  it('is stored as a boolean where one says it', () => {
    expect(
      [undefined, true, false, [], ['url', 'form', 'url'], ['sampling']].map((one) =>
        normalizedInput(one as CallRequest['acceptsInput']),
      ),
    ).toEqual([true, true, false, false, true, ['sampling']]);
  });
});

it.each([
  [{ ...CITY, url: LINK.url }],
  [{ ...CITY, sampling: SAMPLING.sampling }],
  [{ ...SAMPLING, roots: true as const }],
])('asks for one thing at a time: %j', async (request) => {
  const fixture = await asked(asking(request), {}, { acceptsInput: ALL });
  expect(await stateOf(fixture, fixture.call)).toMatchObject({
    error: { code: 'tool_failed', reasons: [{ code: 'input_request_mixed' }] },
  });
});
