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
  it('is off by default: no tool is offered, and a request in the reply is plain text', async () => {
    const { agent, models } = await begin({ defaultToolEnabled: true }, [sum('1')]);
    expect(await agent.send('Go.')).toMatchObject({ reason: 'done', calls: [], text: sum('1') });
    expect(JSON.stringify(models.requests[0]?.body)).not.toContain('math.add');
    expect(models.requests[0]?.tools).toEqual([]);
  });

  it('does not run tool calls of the vendor while tool calls are off', async () => {
    const { agent } = await begin({ protocol: 'openai' }, [
      { calls: [{ name: 'math.add', args: { a: 1, b: 1 } }] },
      'Sorry.',
    ]);
    const { calls } = await agent.send('Go.');
    expect(calls).toMatchObject([{ state: 'DENIED', code: 'permission_denied' }]);
  });

  it('uses the configured protocol', async () => {
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

  it('offers and runs only enabled tools', async () => {
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

  it("stops at maxIterations, unless the agent's own option differs", async () => {
    const again = [sum('1'), sum('2'), sum('3'), 'never said'];
    const { agent, models } = await begin({ ...ON, maxIterations: 2 }, again);
    expect(await agent.send('Go.')).toMatchObject({ reason: 'max_iterations' });
    expect(models.requests).toHaveLength(2);
    const own = await begin({ ...ON, maxIterations: 2 }, again, { maxIterations: 1 });
    expect(await own.agent.send('Go.')).toMatchObject({ reason: 'max_iterations' });
    expect(own.models.requests).toHaveLength(1);
  });

  it('limits the time of a call with timeout', async () => {
    const { agent } = await begin({ ...ON, timeout: 30 }, [
      formatRequest({ toolName: 'endless', args: {} }),
      'ok',
    ]);
    const { calls } = await agent.send('Go.');
    // Checks the limit itself: the tool's own, longer limit would end the call too.
    expect(calls).toMatchObject([{ state: 'TIMED_OUT', error: 'no result within 0.03s' }]);
  });

  it('requires approval of every call with requireConfirmation', async () => {
    const { agent } = await begin({ ...ON, requireConfirmation: true }, [sum('1'), sum('2'), 'ok']);
    const decisions: ('allow' | 'deny')[] = ['allow', 'deny'];
    agent.on('permission_required', ({ respond }) => respond(decisions.shift() ?? 'deny'));
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

  it('cannot be created with invalid settings', async () => {
    const { board, model } = await aScene([]);
    const make = (toolCalling: object): Agent => new Agent({ board, model, toolCalling });
    expect(() => make({ timeout: -1 })).toThrow('toolCallConfig.timeout must be a whole number from 1');
    expect(() => make({ requireConfirm: true })).toThrow('toolCallConfig.requireConfirm is no setting');
  });
});

describe('an agent in manual mode', () => {
  const MANUAL = { ...ON, mode: 'manual' } as const;

  it('returns its requests, and runs them on continue()', async () => {
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

  it('sends the model an error for requests that were not run before the next message', async () => {
    const { agent, models } = await begin(MANUAL, [sum('1'), 'As you like.']);
    await agent.send('Go.');
    expect(await agent.send('Leave it.')).toMatchObject({
      reason: 'done',
      calls: [{ state: 'CANCELLED', failure: { outcome: 'not_started' } }],
    });
    expect(JSON.stringify(models.requests[1]?.body)).toContain('the tool was not run before');
  });

  it('still holds its requests after a resume', async () => {
    const { agent, board, model } = await begin(MANUAL, [sum('1'), 'Two.']);
    const held = await agent.send('Go.');
    const resumed = await Agent.resume(agent.id, { board, model, toolCalling: MANUAL });
    expect(resumed.isUnfinished).toBe(true);
    expect(await resumed.continue()).toMatchObject({
      text: 'Two.',
      calls: [{ id: held.requests[0]?.callId, result: { sum: 2 } }],
    });
  });

  it('uses the given dialect', async () => {
    const more = { dialect: textDialect() };
    const { agent } = await begin({ ...MANUAL, protocol: 'openai' }, [sum('1')], more);
    expect(await agent.send('Go.')).toMatchObject({ reason: 'manual', requests: [{ name: 'math.add' }] });
  });
});
