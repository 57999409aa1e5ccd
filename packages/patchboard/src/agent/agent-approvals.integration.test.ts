import { describe, expect, it } from 'vitest';
import { eventsOf, scenes } from '../../test/support/agent-scene.ts';
import { tool } from '../index.ts';
import type { Script } from '../testing/index.ts';

const { aScene } = scenes();
const script: Script = [{ calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] }, 'ok'];

describe('an agent whose calls require approval', () => {
  it('runs a call that is allowed by respond, with a note', async () => {
    const { agent } = await aScene(script, { permission: { mode: 'ask' } });
    const states: string[] = [];
    agent.on('state_changed', ({ state }) => states.push(state));
    agent.on('permission_required', (event) => event.respond('allow', { note: 'fine' }));
    const { calls, reason } = await agent.send('1 + 2?');
    expect(reason).toBe('done');
    expect(calls[0]).toMatchObject({
      state: 'COMPLETED',
      result: { sum: 3 },
      approval: { required: true, decision: 'allow', decidedBy: 'operator', note: 'fine' },
    });
    const controlEvents = (await eventsOf(agent)).filter(({ channel }) => channel === 'control');
    expect(controlEvents).toMatchObject([
      {
        type: 'permission_required',
        call: { id: calls[0]?.id, state: 'APPROVAL_REQUIRED', inputPreview: { a: 1, b: 2 } },
      },
      {
        type: 'permission_decided',
        callId: calls[0]?.id,
        decision: 'allow',
        decidedBy: 'operator',
        note: 'fine',
      },
    ]);
    expect(states).toEqual(['working', 'waiting', 'working', 'idle']);
  });

  it("sends a denial and the operator's note to the model", async () => {
    const { agent } = await aScene(script, { permission: { mode: 'ask' } });
    agent.on('permission_required', ({ call }) =>
      agent.decide(call.id, 'deny', { note: 'not today', decidedBy: 'ann' }),
    );
    const { calls } = await agent.send('1 + 2?');
    expect(calls[0]).toMatchObject({ state: 'DENIED', code: 'approval_denied' });
    expect(agent.messages[2]?.content[0]).toMatchObject({
      is_error: true,
      content: { error: 'Permission denied by user', note: 'not today' },
    });
    const { type } = (await eventsOf(agent)).find((event) => event.type === 'tool:error')!;
    expect(type).toBe('tool:error');
  });

  it('emits one event for a decision that was made elsewhere', async () => {
    const { agent, board } = await aScene(script, { permission: { mode: 'ask' } });
    const refused: string[] = [];
    agent.on('permission_required', async ({ call, respond }) => {
      await board.decide(call.id, 'allow', { decidedBy: 'console' });
      await respond('deny').catch((error: Error) => refused.push(error.message));
    });
    const { calls } = await agent.send('1 + 2?');
    expect(calls[0]?.state).toBe('COMPLETED');
    expect(refused[0]).toContain('does not wait for a decision');
    const decided = (await eventsOf(agent)).filter(({ type }) => type === 'permission_decided');
    expect(decided).toMatchObject([{ decision: 'allow', decidedBy: 'console' }]);
  });

  it("decides only on its own calls, and may not have the operator's name", async () => {
    const { agent, board } = await aScene(
      script,
      { permission: { mode: 'ask' } },
      { policy: { default: { mode: 'ask' } }, tools: [tool('math.add', () => 3)] },
    );
    const foreign = await board.invoke('math.add', {});
    await expect(agent.decide(foreign.id, 'allow')).rejects.toThrow('no call of this agent');
    await expect(agent.decide('tc_nothing', 'allow')).rejects.toThrow('no call of this agent');
    agent.on('permission_required', async ({ respond }) => {
      await expect(respond('maybe' as 'allow')).rejects.toThrow('a decision is allow or deny, not maybe');
      await expect(respond('allow', { decidedBy: '' })).rejects.toThrow(
        "decide: decidedBy must be 1 to 200 visible ASCII characters without spaces; it is ''",
      );
      await expect(respond('allow', { notes: 'x' } as object)).rejects.toThrow('did you mean note?');
      await expect(respond('allow', { decidedBy: agent.name })).rejects.toThrow(
        'you cannot decide on your own call',
      );
      await respond('allow');
    });
    expect((await agent.send('go')).calls[0]?.state).toBe('COMPLETED');
  });

  it('requires approval only for tools that its lists do not decide', async () => {
    const tools = ['a', 'b', 'c'].map((name) => tool(name, () => name));
    const calls = tools.map(({ name }) => ({ name }));
    const permission = {
      mode: 'ask',
      autoAllowTools: ['a'],
      autoDenyTools: ['b'],
      requireApprovalTools: ['c'],
    } as const;
    const { agent } = await aScene([{ calls }, 'ok'], { permission }, { tools });
    const asked: string[] = [];
    agent.on('permission_required', ({ call, respond }) => {
      asked.push(call.name);
      return respond('allow');
    });
    const reply = await agent.send('go');
    expect(reply.calls.map(({ state }) => state)).toEqual(['COMPLETED', 'DENIED', 'COMPLETED']);
    expect(asked).toEqual(['c']);
  });
});
