import { describe, expect, it } from 'vitest';
import { add, eventsOf, scenes } from '../../test/support/agent-scene.ts';
import { Agent, AgentError, createPatchboard, tool, type Hooks, type Message } from '../index.ts';
import type { Script } from '../testing/index.ts';

const { aScene, aModel } = scenes();

/** The tool results in the last request to the model, in the vendor's format. */
function resultsIn(body: unknown): string[] {
  const { messages } = body as { messages: { role: string; content: string }[] };
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

describe.each(['openai', 'anthropic'] as const)('an agent with the API of %s', (vendor) => {
  it('runs the requested tools in parallel and sends the results back', async () => {
    let together = 0;
    let most = 0;
    const slow = tool('slow', async ({ n }: { n: number }) => {
      most = Math.max(most, ++together);
      await new Promise((resolve) => setImmediate(resolve));
      together -= 1;
      return { n };
    });
    const script: Script = [
      {
        text: 'Let me see.',
        calls: [
          { name: 'slow', args: { n: 1 } },
          { name: 'slow', args: { n: 2 } },
        ],
      },
      'It is 1 and 2.',
    ];
    const { agent, models } = await aScene(script, { system: 'You count.' }, { tools: [slow] }, vendor);
    const deltas: string[] = [];
    agent.on('text_delta', ({ delta }) => deltas.push(delta));
    const reply = await agent.send('Count.');
    expect(reply).toMatchObject({ text: 'It is 1 and 2.', reason: 'done' });
    expect(reply.usage).toEqual({ inputTokens: 20, outputTokens: 10 });
    expect(reply.calls.map(({ state, result }) => [state, result])).toEqual([
      ['COMPLETED', { n: 1 }],
      ['COMPLETED', { n: 2 }],
    ]);
    expect(most).toBe(2);
    expect(deltas.join('')).toBe('Let me see.It is 1 and 2.');
    expect(deltas.length).toBeGreaterThan(2);
    expect(JSON.stringify(models.requests[0]?.body)).toContain('You count.');
    expect(JSON.stringify(models.requests[1]?.body)).toContain('{\\"n\\":1}');
    expect(agent.messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ['user', ['text']],
      ['assistant', ['text', 'tool_use', 'tool_use']],
      ['user', ['tool_result', 'tool_result']],
      ['assistant', ['text']],
    ]);
    // In the transcript, a result is the value itself.
    expect(agent.messages[2]?.content[0]).toMatchObject({ content: { n: 1 }, is_error: false });
  });

  it('returns errors for invalid requests, and records each', async () => {
    const script: Script = [
      {
        calls: [
          { name: 'no.such.tool', args: { x: 1 } },
          { name: 'math.add', args: { a: 'one', b: 2 } },
          { name: 'math.add', args: vendor === 'openai' ? '{"a": 1,' : '{"__proto__": {}}' },
        ],
      },
      'I see.',
    ];
    const { agent, board, models } = await aScene(script, {}, {}, vendor);
    const reply = await agent.send('Try.');
    expect(reply.reason).toBe('done');
    expect(reply.calls.map(({ state, code }) => [state, code])).toEqual([
      ['FAILED', 'tool_not_found'],
      ['FAILED', 'input_invalid'],
      ['FAILED', 'input_invalid'],
    ]);
    for (const { id } of reply.calls) expect(await board.get(id)).toMatchObject({ state: 'FAILED' });
    expect(agent.messages[2]?.content).toMatchObject([
      {
        is_error: true,
        content: {
          ok: false,
          code: 'tool_not_found',
          recommendations: [expect.any(String), expect.any(String)],
        },
      },
      { is_error: true, content: { ok: false, error: expect.stringContaining('args/a') as unknown } },
      { is_error: true, content: { ok: false, error: expect.stringContaining('not valid JSON') as unknown } },
    ]);
    expect(models.requests).toHaveLength(2);
  });
});

describe('an agent', () => {
  it("sends reasoning back with the vendor's signature, and emits no event with it", async () => {
    const thinking = 'I had better add.';
    const script: Script = [{ thinking, calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] }, 'It is 3.'];
    const { agent, models } = await aScene(script, {}, {}, 'anthropic');
    const deltas: string[] = [];
    agent.on('text_delta', ({ delta }) => deltas.push(delta));
    expect((await agent.send('1 + 2?')).text).toBe('It is 3.');
    expect(deltas.join('')).toBe('It is 3.');
    const { messages } = models.requests[1]!.body as { messages: { role: string; content: unknown[] }[] };
    expect(messages[1]?.content[0]).toEqual({ type: 'thinking', thinking, signature: 'signed:17' });
  });

  it('continues when an event handler fails', async () => {
    const lines: unknown[] = [];
    const log = {
      info: () => {},
      warn: () => {},
      error: (event: string, fields?: object) => void lines.push([event, fields]),
    };
    const { agent } = await aScene(['hello'], {}, { log });
    agent.on('done', () => {
      throw new Error('boom');
    });
    agent.on('done', () => Promise.reject(new Error('bang')));
    expect((await agent.send('hi')).text).toBe('hello');
    expect(lines).toEqual([
      ['agent.handler_failed', { type: 'done', error: 'boom' }],
      ['agent.handler_failed', { type: 'done', error: 'bang' }],
    ]);
  });

  it('keeps the conversation, and queues concurrent sends in order', async () => {
    const { agent, models } = await aScene(['one', 'two', 'three']);
    const replies = await Promise.all([agent.send('1?'), agent.send('2?'), agent.send('3?')]);
    expect(replies.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    const { messages } = models.requests[2]!.body as { messages: { role: string; content: unknown }[] };
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  });

  it('is offered only tools that it is given and may call, and cannot call others by guessing names', async () => {
    const names = ['fs_read', 'fs_write', 'bash_run', 'math.add'];
    const tools = names.map((name) => tool(name, () => name));
    const permission = { mode: 'auto', autoDenyTools: ['fs_write'] } as const;
    const script: Script = [{ calls: [{ name: 'bash_run' }, { name: 'fs_write' }] }, 'done'];
    const { agent, models } = await aScene(script, { permission, tools: ['fs_*', 'math.*'] }, { tools });
    const { calls } = await agent.send('go');
    expect(models.requests[0]?.tools.toSorted()).toEqual(['fs_read', 'math__add']);
    expect(calls.map(({ state, code }) => [state, code])).toEqual([
      ['DENIED', 'permission_denied'],
      ['DENIED', 'permission_denied'],
    ]);
  });

  it('calls its own hooks, and messagesChanged with the conversation', async () => {
    const seen: [number, string | undefined][] = [];
    const broken: Hooks = { messagesChanged: () => Promise.reject(new Error('boom')) };
    const hooks: Hooks = {
      preToolUse: ({ args }) => ({ args: { ...(args as object), b: 40 } }),
      postToolUse: (_call, result) => ({ update: { result: { ...(result as object), checked: true } } }),
      messagesChanged: (messages: readonly Message[], agent) => void seen.push([messages.length, agent?.id]),
    };
    const script: Script = [{ calls: [{ name: 'math.add', args: { a: 2, b: 2 } }] }, '42'];
    const { agent } = await aScene(
      script,
      { hooks: [hooks, broken] },
      { hooks: { messagesChanged: (all) => void seen.push([-all.length, undefined]) } },
    );
    const { calls } = await agent.send('2 + 2?');
    expect(calls[0]).toMatchObject({ result: { sum: 42, checked: true } });
    expect(seen).toEqual(
      [1, 2, 3, 4].flatMap((n) => [
        [n, agent.id],
        [-n, undefined],
      ]),
    );
    const errors = (await eventsOf(agent)).filter(({ type }) => type === 'error');
    expect(errors).toHaveLength(4);
    expect(errors[0]).toMatchObject({ message: 'messagesChanged failed: boom' });
  });

  it('emits custom events of its tools', async () => {
    const busy = tool('busy', (_args: object, context) => {
      context.emit('progress', { percent: 50 });
      return context.agent?.id;
    });
    const { agent } = await aScene([{ calls: [{ name: 'busy' }] }, 'ok'], {}, { tools: [busy] });
    const heard: unknown[] = [];
    agent.on('tool_custom_event', ({ eventType, data, toolName }) => heard.push([toolName, eventType, data]));
    const { calls } = await agent.send('go');
    expect(heard).toEqual([['busy', 'progress', { percent: 50 }]]);
    expect(calls[0]?.result).toBe(agent.id);
  });

  it('truncates a large result for the model and keeps all of it in the record', async () => {
    const big = tool('big', () => ({ text: 'x'.repeat(100_000) }));
    const { agent, board, models } = await aScene(
      [{ calls: [{ name: 'big' }] }, 'ok'],
      { maxResultBytes: 1000 },
      { tools: [big] },
    );
    const { calls } = await agent.send('go');
    const [result] = resultsIn(models.requests[1]?.body);
    expect(JSON.parse(result!)).toMatchObject({
      truncated: true,
      call_id: calls[0]?.id,
      total_bytes: 100_011,
    });
    expect(result!.length).toBeLessThan(1000);
    expect((await board.get(calls[0]!.id))?.result).toEqual({ text: 'x'.repeat(100_000) });
  });

  it('sends failures to the model in the configured language', async () => {
    const script: Script = [{ calls: [{ name: 'nothing' }] }, '好'];
    const { agent, models } = await aScene(script, { language: 'zh' });
    await agent.send('试试');
    expect(resultsIn(models.requests[1]?.body)[0]).toContain('使用列表中已有的工具名');
  });

  it('retries model requests that failed with a retryable error, and no others', async () => {
    const { agent, models } = await aScene([
      { status: 429, retryAfter: 0 },
      { status: 503, retryAfter: 0 },
      'hello',
    ]);
    expect((await agent.send('hi')).text).toBe('hello');
    expect(models.requests).toHaveLength(3);
    const { agent: refused, models: strict } = await aScene([{ status: 401 }, 'never']);
    await expect(refused.send('hi')).rejects.toThrow(/^the model scripted of openai.chat failed: /);
    expect(strict.requests).toHaveLength(1);
  });

  it('can be continued after its model failed, with nothing lost', async () => {
    const call = { calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] };
    const { agent, models } = await aScene([call, { text: 'It is', ending: 'break' }, 'It is 3.']);
    await expect(agent.send('1 + 2?')).rejects.toBeInstanceOf(AgentError);
    expect(agent.isUnfinished).toBe(true);
    expect(agent.state).toBe('idle');
    expect(await agent.continue()).toMatchObject({ text: 'It is 3.', calls: [] });
    expect(resultsIn(models.requests[2]?.body)).toEqual(['{"sum":3}']);
    expect(agent.isUnfinished).toBe(false);
    await expect(agent.continue()).rejects.toThrow('nothing to continue');
  });

  it('redacts secrets in its journal', async () => {
    const login = tool('login', ({ password }: { password: string }) => password.length);
    const script: Script = [{ calls: [{ name: 'login', args: { user: 'me', password: 'hunter2' } }] }, 'in'];
    const { agent, board } = await aScene(script, {}, { tools: [login], redact: ['password'] });
    const { calls } = await agent.send('log in');
    expect(calls[0]?.result).toBe(7);
    const entries = await board.host.store.readJournal(agent.id, 0, 1000);
    expect(entries.length).toBeGreaterThan(5);
    expect(JSON.stringify(entries)).not.toContain('hunter2');
  });

  it.each([
    [{ model: 'gpt-5' }, 'model must be a model of an AI SDK provider'],
    [{ model: { specificationVersion: 'v1', doStream: () => {} } }, 'implements version v1'],
    [{ model: {} }, 'has no doStream'],
    [{ name: 'operator' }, 'name must not be operator'],
    [{ name: 'two words' }, 'name must be 1 to 200 visible'],
    [{ language: 'fr' }, "language is 'fr'; known are en, zh"],
    [{ tools: 'math.*' }, "tools must be a list: write ['math.*']"],
    [{ tools: [7] }, 'tools[0] must be a text; it is 7'],
    [{ hooks: { preToolUSe: () => {} } }, 'hooks.preToolUSe is not known; did you mean preToolUse?'],
    [{ hooks: [{ postToolUse: 1 }] }, 'hooks[0].postToolUse must be a function; it is 1'],
    [{ maxIteration: 3 }, 'maxIteration is not known; did you mean maxIterations?'],
    [{ budget: { token: 3 } }, 'budget.token is not known; did you mean tokens?'],
    [{ stopWhen: 'done' }, "stopWhen must be a function; it is 'done'"],
    [{ parallel: 'yes' }, "parallel must be true or false; it is 'yes'"],
    [{ system: ['be kind'] }, 'system must be a text; it is a list'],
    [{ dialect: 'vcp' }, "dialect must be a dialect, such as textDialect('vcp'); it is 'vcp'"],
    [{ settings: { temprature: 1 } }, 'settings.temprature is not known; did you mean temperature?'],
    [{ board: {} }, 'board must be a board of createPatchboard(); it is an object'],
    [{ id: '' }, 'id must be 1 to 200 visible'],
    [{ maxIterations: 0 }, 'maxIterations must be a whole number of at least 1'],
    [{ budget: { tokens: 1.5 } }, 'budget.tokens must be a whole number'],
    [{ maxDepth: -1 }, 'maxDepth must be a whole number of at least 0'],
    [{ permission: { mode: 'sometimes' } }, 'permission.mode must be one of auto, ask, deny, custom'],
    [{ permission: { autoAllow: [] } }, 'permission.autoAllow is not known'],
    [{ permission: { autoDenyTools: 'rm' } }, 'permission.autoDenyTools must be a list of texts'],
  ])('refuses %j', async (options, words) => {
    const { model } = await aModel([]);
    const board = await createPatchboard({ tools: [add] });
    expect(() => new Agent({ board, model, ...(options as object) })).toThrow(words);
    await board.close();
  });

  it('throws for an empty text, an id in use, and the resume of an unknown id', async () => {
    const { agent, board, model } = await aScene(['hello', 'hello'], { id: 'talk-1' });
    await expect(agent.send('  ')).rejects.toThrow('send requires a text');
    await agent.send('hi');
    await expect(new Agent({ board, model, id: 'talk-1' }).send('hi')).rejects.toThrow(
      'another agent has the id talk-1',
    );
    await expect(Agent.resume('talk-2', { board, model })).rejects.toThrow('no agent has the id talk-2');
  });
});
