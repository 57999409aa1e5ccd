import { describe, expect, it } from 'vitest';
import { add, scenes, type Scene } from '../../test/support/agent-scene.ts';
import { Agent, formatRequest, textDialect, tool, type AgentOptions } from '../index.ts';
import type { ScriptedReply } from '../testing/index.ts';

const { aScene } = scenes();

const ON = { enabled: true, defaultToolEnabled: true } as const;
const sum = (a: string): string => formatRequest({ toolName: 'math.add', args: { a, b: '1' } });
const endless = tool('endless', () => new Promise(() => {}));
const order: string[] = [];
const step = tool('step', async ({ n }: { n: string }) => {
  order.push(`begin ${n}`);
  await new Promise((resolve) => setImmediate(resolve));
  order.push(`end ${n}`);
});

async function begin(
  toolCalling: AgentOptions['toolCalling'],
  script: readonly ScriptedReply[],
  more: Partial<AgentOptions> = {},
): Promise<Scene> {
  const options = { ...(toolCalling === undefined ? {} : { toolCalling }), ...more };
  return await aScene(script, options, { tools: [add, endless, step] });
}

describe('an agent with a tool call config', () => {
  it('is off by default: no tool is offered, and what looks like a request is text', async () => {
    const { agent, models } = await begin({ defaultToolEnabled: true }, [sum('1')]);
    expect(await agent.send('Go.')).toMatchObject({ reason: 'done', calls: [], text: sum('1') });
    expect(JSON.stringify(models.requests[0]?.body)).not.toContain('math.add');
    expect(models.requests[0]?.tools).toEqual([]);
  });

  it('runs nothing that a vendor sends although tool calls are off', async () => {
    const { agent } = await begin({ protocol: 'openai' }, [
      { calls: [{ name: 'math.add', args: { a: 1, b: 1 } }] },
      'Sorry.',
    ]);
    const { calls } = await agent.send('Go.');
    expect(calls).toMatchObject([{ state: 'DENIED', code: 'permission_denied' }]);
  });

  it('speaks the protocol that it names', async () => {
    const text = await begin(ON, [sum('1'), 'Two.']);
    expect(await text.agent.send('Go.')).toMatchObject({ calls: [{ result: { sum: 2 } }], text: 'Two.' });
    expect(text.models.requests[0]?.tools).toEqual([]);
    const native = await begin({ ...ON, protocol: 'openai' }, [
      { calls: [{ name: 'math.add', args: { a: 1, b: 1 } }] },
      'Two.',
    ]);
    expect(await native.agent.send('Go.')).toMatchObject({ calls: [{ result: { sum: 2 } }], text: 'Two.' });
    expect(native.models.requests[0]?.tools).toContain('math__add');
  });

  it('offers and runs what is switched on, and nothing else', async () => {
    const config = { enabled: true, toolToggles: { 'math.add': true } };
    const { agent, models } = await begin(config, [
      sum('1') + formatRequest({ toolName: 'step', args: { n: 'never' } }),
      'ok',
    ]);
    const { calls } = await agent.send('Go.');
    expect(calls.map(({ state, code }) => code ?? state)).toEqual(['COMPLETED', 'permission_denied']);
    expect(order).not.toContain('begin never');
    const offered = JSON.stringify(models.requests[0]?.body);
    expect([offered.includes('「始」math.add「末」'), offered.includes('「始」step「末」')]).toEqual([
      true,
      false,
    ]);
  });

  it('stops at maxIterations, unless its own option says otherwise', async () => {
    const again = [sum('1'), sum('2'), sum('3'), 'never said'];
    const { agent, models } = await begin({ ...ON, maxIterations: 2 }, again);
    expect(await agent.send('Go.')).toMatchObject({ reason: 'max_iterations' });
    expect(models.requests).toHaveLength(2);
    const own = await begin({ ...ON, maxIterations: 2 }, again, { maxIterations: 1 });
    expect(await own.agent.send('Go.')).toMatchObject({ reason: 'max_iterations' });
    expect(own.models.requests).toHaveLength(1);
  });

  it('gives a call no more time than timeout says', async () => {
    const { agent } = await begin({ ...ON, timeout: 30 }, [
      formatRequest({ toolName: 'endless', args: {} }),
      'ok',
    ]);
    const { calls } = await agent.send('Go.');
    // The limit by name: the tool's own would end it too, only later.
    expect(calls).toMatchObject([{ state: 'TIMED_OUT', error: 'no result within 0.03s' }]);
  });

  it('asks before every call with requireConfirmation', async () => {
    const { agent } = await begin({ ...ON, requireConfirmation: true }, [sum('1'), sum('2'), 'ok']);
    const answers: ('allow' | 'deny')[] = ['allow', 'deny'];
    agent.on('permission_required', ({ respond }) => respond(answers.shift() ?? 'deny'));
    const { calls } = await agent.send('Go.');
    expect(calls.map(({ state, approval }) => [state, approval?.decision])).toEqual([
      ['COMPLETED', 'allow'],
      ['DENIED', 'deny'],
    ]);
  });

  it.each([
    [true, ['begin 1', 'begin 2', 'end 1', 'end 2']],
    [false, ['begin 1', 'end 1', 'begin 2', 'end 2']],
    [undefined, ['begin 1', 'end 1', 'begin 2', 'end 2']],
  ])(
    'runs the requests of a reply at once with parallelExecution: %s',
    async (parallelExecution, expected) => {
      order.length = 0;
      const reply = ['1', '2'].map((n) => formatRequest({ toolName: 'step', args: { n } })).join('');
      const more = parallelExecution === undefined ? {} : { parallelExecution };
      const { agent } = await begin({ ...ON, ...more }, [reply, 'ok']);
      await agent.send('Go.');
      expect(order).toEqual(expected);
    },
  );

  it('is made by nobody with settings that are not understood', async () => {
    const { board, model } = await aScene([]);
    const make = (toolCalling: object): Agent => new Agent({ board, model, toolCalling });
    expect(() => make({ timeout: -1 })).toThrow('toolCallConfig.timeout must be a whole number from 1');
    expect(() => make({ requireConfirm: true })).toThrow('toolCallConfig.requireConfirm is no setting');
  });
});

describe('an agent in manual mode', () => {
  const MANUAL = { ...ON, mode: 'manual' } as const;

  it('hands its requests over, and runs them when it is told to go on', async () => {
    const { agent, board, models } = await begin(MANUAL, [`I ask.${sum('1')}${sum('one')}`, 'Two.']);
    const held = await agent.send('Go.');
    expect(held).toMatchObject({
      reason: 'manual',
      text: 'I ask.',
      calls: [],
      requests: [{ name: 'math.add', input: { a: 1, b: 1 } }, { name: 'math.add' }],
    });
    expect(agent.isUnfinished).toBe(true);
    expect(await board.get(held.requests[0]?.callId ?? '')).toBeUndefined();
    expect(await agent.continue()).toMatchObject({
      reason: 'done',
      text: 'Two.',
      requests: [],
      calls: [{ id: held.requests[0]?.callId, result: { sum: 2 } }, { code: 'input_invalid' }],
    });
    expect(JSON.stringify(models.requests[1]?.body)).toContain('must be a number');
  });

  it('tells the model what nobody ran when the conversation goes on without it', async () => {
    const { agent, models } = await begin(MANUAL, [sum('1'), 'As you like.']);
    await agent.send('Go.');
    expect(await agent.send('Leave it.')).toMatchObject({
      reason: 'done',
      calls: [{ state: 'CANCELLED', failure: { outcome: 'not_started' } }],
    });
    expect(JSON.stringify(models.requests[1]?.body)).toContain('nobody ran the tool');
  });

  it('still holds them after it was resumed', async () => {
    const { agent, board, model } = await begin(MANUAL, [sum('1'), 'Two.']);
    const held = await agent.send('Go.');
    const resumed = await Agent.resume(agent.id, { board, model, toolCalling: MANUAL });
    expect(resumed.isUnfinished).toBe(true);
    expect(await resumed.continue()).toMatchObject({
      text: 'Two.',
      calls: [{ id: held.requests[0]?.callId, result: { sum: 2 } }],
    });
  });

  it('speaks with the dialect that it was given', async () => {
    const more = { dialect: textDialect() };
    const { agent } = await begin({ ...MANUAL, protocol: 'openai' }, [sum('1')], more);
    expect(await agent.send('Go.')).toMatchObject({ reason: 'manual', requests: [{ name: 'math.add' }] });
  });
});
