import { describe, expect, it } from 'vitest';
import { add, eventsOf, scenes } from '../../test/support/agent-scene.ts';
import { tool } from '../index.ts';
import type { Script, ScriptedTurn } from '../testing/index.ts';

const { aScene } = scenes();
const adding = (a: number): ScriptedTurn => ({ calls: [{ name: 'math.add', args: { a, b: 1 } }] });

describe('an agent stops', () => {
  it('after maxIterations replies, and can be continued', async () => {
    const { agent, models } = await aScene(({ index }) => (index < 4 ? adding(index) : 'done'), {
      maxIterations: 2,
    });
    expect(await agent.send('go')).toMatchObject({ reason: 'max_iterations' });
    expect(models.requests).toHaveLength(2);
    expect(agent.isUnfinished).toBe(true);
    expect(await agent.continue()).toMatchObject({ reason: 'max_iterations' });
    expect(await agent.continue()).toMatchObject({ reason: 'done', text: 'done' });
  });

  it('when a stop condition holds', async () => {
    const finish = tool('finish', () => 'finished');
    const script: Script = [adding(1), { calls: [{ name: 'finish' }] }, 'never'];
    const seen: number[] = [];
    const { agent, models } = await aScene(
      script,
      {
        stopWhen: [
          ({ iteration }) => {
            seen.push(iteration);
            return false;
          },
          ({ calls }) => Promise.resolve(calls.some(({ name }) => name === 'finish')),
        ],
      },
      { tools: [add, finish] },
    );
    expect(await agent.send('go')).toMatchObject({ reason: 'stopped' });
    expect(models.requests).toHaveLength(2);
    expect(seen).toEqual([1, 2]);
  });

  it('when its budget is spent, and does not continue after that', async () => {
    const { agent, models } = await aScene(({ index }) => adding(index), { budget: { modelCalls: 3 } });
    expect(await agent.send('go')).toMatchObject({ reason: 'budget' });
    expect(await agent.send('more')).toMatchObject({ reason: 'budget' });
    expect(models.requests).toHaveLength(3);
    const { agent: thrifty, models: few } = await aScene(({ index }) => adding(index), {
      budget: { tokens: 16 },
    });
    await thrifty.send('go');
    expect(few.requests).toHaveLength(2);
  });

  it('when the model repeats itself: first a note, then denials, then the stop', async () => {
    let runs = 0;
    const look = tool('look', () => {
      runs += 1;
      return { seen: 'nothing' };
    });
    const { agent, models } = await aScene(
      () => ({ calls: [{ name: 'look', args: { at: 'door' } }] }),
      {},
      { tools: [look] },
    );
    const noticed: number[] = [];
    agent.on('repeat_noticed', ({ times }) => noticed.push(times));
    const reply = await agent.send('look');
    expect(reply.reason).toBe('repeating');
    expect(runs).toBe(3);
    expect(reply.calls.map(({ state }) => state)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'COMPLETED',
      'DENIED',
      'DENIED',
      'DENIED',
    ]);
    expect(models.requests).toHaveLength(6);
    expect(noticed).toEqual([3]);
    expect(JSON.stringify(models.requests[3]?.body)).toContain('3 times in a row with the same arguments');
  });

  it.each([
    ['another result', (n: number) => ({ args: {}, result: n })],
    ['other arguments', (n: number) => ({ args: { n }, result: 'same' })],
  ])('not when each call has %s', async (_what, make) => {
    let runs = 0;
    const poll = tool('poll', () => make(runs++).result);
    const { agent } = await aScene(
      ({ index }) => (index < 6 ? { calls: [{ name: 'poll', args: make(index).args }] } : 'ready'),
      {},
      { tools: [poll] },
    );
    expect(await agent.send('wait')).toMatchObject({ reason: 'done' });
    expect(runs).toBe(6);
  });

  it.each([
    ['is refused before it runs', 'look', { nothing: 1 }, {}],
    ['names no tool', 'loook', {}, {}],
    ['has arguments that are redacted', 'look', { at: 'door', token: 's' }, { redact: ['token'] }],
  ])('when the model repeats a request that %s', async (_what, name, args, board) => {
    let runs = 0;
    const look = tool({
      name: 'look',
      parameters: { type: 'object', required: ['at'] },
      execute: () => void (runs += 1),
    });
    const { agent } = await aScene(() => ({ calls: [{ name, args }] }), {}, { tools: [look], ...board });
    const reply = await agent.send('look');
    expect(reply).toMatchObject({ reason: 'repeating', calls: { length: 6 } });
    expect(runs).toBe(name === 'look' && 'at' in args ? 3 : 0);
  });

  it('not because one reply has many equal requests, before it was warned', async () => {
    const { agent } = await aScene([{ calls: Array.from({ length: 9 }, () => ({ name: 'gone' })) }, 'ok']);
    expect(await agent.send('go')).toMatchObject({ reason: 'done' });
  });

  it("with the text of the model's last reply", async () => {
    const { agent } = await aScene(({ index }) => ({ ...adding(index), text: `Sum ${index}.` }), {
      maxIterations: 2,
    });
    expect(await agent.send('go')).toMatchObject({ reason: 'max_iterations', text: 'Sum 1.' });
    expect(await agent.send('more', { signal: AbortSignal.abort() })).toMatchObject({ text: '' });
  });

  it('not when the model repeats a request after another one', async () => {
    let runs = 0;
    const look = tool('look', () => void runs++);
    const { agent } = await aScene(
      ({ index }) => (index === 3 ? adding(1) : index < 7 ? { calls: [{ name: 'look' }] } : 'ok'),
      {},
      { tools: [add, look] },
    );
    expect(await agent.send('look')).toMatchObject({ reason: 'done' });
    expect(runs).toBe(6);
  });
});

describe('interrupt', () => {
  it('aborts a streaming reply, and keeps the part that arrived', async () => {
    const { agent } = await aScene([{ text: 'Once upon a time', ending: 'hang' }, 'Fine.']);
    agent.on('text_delta', ({ delta }) => (delta.startsWith('upon') ? agent.interrupt() : undefined));
    const reply = await agent.send('Tell me a story.');
    expect(reply.reason).toBe('interrupted');
    expect(reply.text).toMatch(/^Once upon/);
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', incomplete: true });
    expect(await agent.send('Stop.')).toMatchObject({ text: 'Fine.', reason: 'done' });
  });

  it('cancels running calls, and every request has a result', async () => {
    let aborted = false;
    const stuck = tool('stuck', async (_args: object, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted = true;
    });
    const script: Script = [{ calls: [{ name: 'stuck' }, { name: 'stuck' }] }, 'Fine.'];
    const { agent } = await aScene(script, {}, { tools: [stuck] });
    let started = 0;
    agent.on('tool:start', () => (++started === 2 ? agent.interrupt() : undefined));
    const { reason, calls } = await agent.send('go');
    expect(reason).toBe('interrupted');
    expect(calls.map(({ state }) => state)).toEqual(['CANCELLED', 'CANCELLED']);
    expect(aborted).toBe(true);
    expect(agent.messages.at(-1)?.content.map(({ type }) => type)).toEqual(['tool_result', 'tool_result']);
    expect((await agent.send('and now?')).text).toBe('Fine.');
  });

  it('cancels a call that waits for approval', async () => {
    const script: Script = [{ calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] }, 'never'];
    const { agent } = await aScene(script, { permission: { mode: 'ask' } });
    agent.on('permission_required', () => agent.interrupt());
    expect((await agent.send('go')).calls[0]?.state).toBe('CANCELLED');
    expect(agent.state).toBe('idle');
  });

  it('works with a signal too, also before the turn began', async () => {
    const { agent, models } = await aScene(['never']);
    expect(await agent.send('go', { signal: AbortSignal.abort() })).toMatchObject({ reason: 'interrupted' });
    expect(models.requests).toHaveLength(0);
    expect((await eventsOf(agent)).at(-1)).toMatchObject({ type: 'state_changed', state: 'idle' });
  });

  it('stops a turn that has just begun, and queued turns', async () => {
    const { agent, models } = await aScene(['never']);
    const sent = [agent.send('one'), agent.send('two')];
    await agent.interrupt();
    expect(await Promise.all(sent)).toMatchObject([{ reason: 'interrupted' }, { reason: 'interrupted' }]);
    expect(models.requests).toHaveLength(0);
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('does not begin turns queued behind a streaming reply', async () => {
    const { agent, models } = await aScene([{ text: 'Once upon a time', ending: 'hang' }, 'Fine.']);
    const stopped: Promise<void>[] = [];
    agent.on('text_delta', ({ delta }) => (delta.startsWith('upon') ? stopped.push(agent.interrupt()) : 0));
    const sent = [agent.send('one'), agent.send('two')];
    expect(await Promise.all(sent)).toMatchObject([{ reason: 'interrupted' }, { reason: 'interrupted' }]);
    await Promise.all(stopped);
    expect(models.requests).toHaveLength(1);
    expect(await agent.send('three')).toMatchObject({ reason: 'done', text: 'Fine.' });
  });
});
