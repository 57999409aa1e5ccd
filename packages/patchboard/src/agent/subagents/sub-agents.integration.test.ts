import { describe, expect, it } from 'vitest';
import { add, eventsOf, scenes } from '../../../test/support/agent-scene.ts';
import { Agent, tool, type AgentEvent, type ToolDefinition } from '../../index.ts';
import type { Script, SeenRequest } from '../../testing/index.ts';

const { aScene } = scenes();

interface Task {
  readonly prompt: string;
  readonly tools?: readonly string[];
}

/** A tool that runs its task in a sub-agent. */
const task: ToolDefinition<Task, unknown> = tool(
  'task',
  async ({ prompt, tools }: Task, { agent, callId, signal }) => {
    if (agent === undefined) throw new Error('only an agent can be given a task');
    return await agent.spawn({ prompt, callId, signal, ...(tools === undefined ? {} : { tools }) });
  },
);

/** The first user message tells which agent sent the request. */
function promptOf({ body }: SeenRequest): string {
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  return JSON.stringify(messages.find(({ role }) => role === 'user')?.content);
}
const turnsOf = ({ body }: SeenRequest): number => (body as { messages: unknown[] }).messages.length;

/** The parent spawns one sub-agent, which makes one call. */
const helping: Script = (request) => {
  if (promptOf(request).includes('boss'))
    return turnsOf(request) === 1 ? { calls: [{ name: 'task', args: { prompt: 'help' } }] } : 'all done';
  return turnsOf(request) === 1 ? { calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] } : 'it is 3';
};

describe('a sub-agent', () => {
  it('does a task for its parent, and its calls are children of the call', async () => {
    const { agent, board } = await aScene(helping, {}, { tools: [task, add] });
    const { calls, text } = await agent.send('boss');
    expect(text).toBe('all done');
    const [parent] = calls;
    expect(parent?.result).toMatchObject({ text: 'it is 3', reason: 'done', calls: 1 });
    const { agentId } = parent!.result as { agentId: string };
    const rows = await board.host.engine.calls.list(
      board.host.principal('embedded'),
      { runId: agentId },
      null,
      10,
    );
    expect(rows.items).toMatchObject([{ toolName: 'math.add', parentCallId: parent?.id, agentId: 'agent' }]);
    const kinds = (await eventsOf(agent)).filter((event) => event.type.startsWith('sub_agent'));
    expect(kinds).toMatchObject([
      { type: 'sub_agent_started', subAgentId: agentId, callId: parent?.id },
      { type: 'sub_agent_ended', subAgentId: agentId },
    ]);
  });

  it("has at most the permissions of its parent, and its approval events reach the parent's listeners", async () => {
    const permission = { mode: 'auto', requireApprovalTools: ['math.*'] } as const;
    const { agent } = await aScene(helping, { permission }, { tools: [task, add] });
    const asked: AgentEvent[] = [];
    agent.on('permission_required', (event) => {
      asked.push(event);
      return agent.decide(event.call.id, 'deny', { note: 'no sums' });
    });
    const { calls } = await agent.send('boss');
    expect(asked).toMatchObject([{ call: { name: 'math.add' } }]);
    expect(asked[0]?.agentId).not.toBe(agent.id);
    expect(calls[0]?.result).toMatchObject({ text: 'it is 3', calls: 1 });
    const decided = (await eventsOf(agent)).filter(({ type }) => type === 'permission_decided');
    expect(decided).toMatchObject([{ decision: 'deny', note: 'no sums', agentId: asked[0]?.agentId }]);
  });

  it('has the hooks of its parent', async () => {
    const hooks = {
      preToolUse: ({ name }: { name: string }) =>
        name === 'math.add' ? ({ decision: 'deny', reason: 'no sums' } as const) : undefined,
    };
    const { agent, board } = await aScene(helping, { hooks }, { tools: [task, add] });
    const { calls } = await agent.send('boss');
    const { agentId } = calls[0]!.result as { agentId: string };
    const { items } = await board.host.engine.calls.list(
      board.host.principal('embedded'),
      { runId: agentId },
      null,
      10,
    );
    expect(items[0]?.state).toMatchObject({ name: 'DENIED', error: { code: 'hook_denied' } });
  });

  it('is offered tools within those of its parent', async () => {
    const script: Script = (request) => {
      if (turnsOf(request) > 1) return 'done';
      return promptOf(request).includes('boss')
        ? { calls: [{ name: 'task', args: { prompt: 'help', tools: ['math.*', 'secret'] } }] }
        : 'ok';
    };
    const secret = tool('secret', () => 1);
    const { agent, models } = await aScene(
      script,
      { tools: ['task', 'math.*'] },
      { tools: [task, add, secret] },
    );
    await agent.send('boss');
    expect(models.requests[1]?.tools).toEqual(['math__add']);
  });

  it('spends the budget of its parent', async () => {
    const { agent, models } = await aScene(helping, { budget: { modelCalls: 2 } }, { tools: [task, add] });
    const { reason, calls } = await agent.send('boss');
    expect(calls[0]?.result).toMatchObject({ reason: 'budget' });
    expect(reason).toBe('budget');
    expect(models.requests).toHaveLength(2);
  });

  it('may be nested no deeper than allowed', async () => {
    const digging: Script = (request) =>
      turnsOf(request) === 1 ? { calls: [{ name: 'task', args: { prompt: 'dig' } }] } : 'up again';
    const { agent, models } = await aScene(digging, { maxDepth: 2 }, { tools: [task] });
    const { calls } = await agent.send('dig');
    expect(calls[0]?.state).toBe('COMPLETED');
    expect(models.requests).toHaveLength(6);
    expect(JSON.stringify(models.requests[3]?.body)).toContain('agents may be nested 2 deep');
    const { agent: alone } = await aScene(digging, { maxDepth: 0 }, { tools: [task] });
    expect((await alone.send('dig')).calls[0]).toMatchObject({ state: 'FAILED', code: 'permission_denied' });
  });

  it('keeps what its parent gave it when it is resumed', async () => {
    const script: Script = (request) => {
      if (promptOf(request).includes('boss'))
        return turnsOf(request) === 1
          ? { calls: [{ name: 'task', args: { prompt: 'help', tools: ['math.*', 'task'] } }] }
          : 'all done';
      return 'ok';
    };
    const options = { tools: ['task', 'math.*'], budget: { modelCalls: 5, tokens: 1_000_000 }, maxDepth: 1 };
    const secret = tool('secret', () => 1);
    const { agent, board, model, models } = await aScene(script, options, { tools: [task, add, secret] });
    const { calls } = await agent.send('boss');
    const { agentId } = calls[0]!.result as { agentId: string };
    expect(models.requests).toHaveLength(3);

    const again = await Agent.resume(agentId, { board, model });
    expect(await again.send('help again')).toMatchObject({ reason: 'done' });
    expect(models.requests[3]?.tools).toEqual(['math__add', 'task']);
    // Three of the five model calls were already spent by the parent and the sub-agent.
    const last = await Agent.resume(agentId, {
      board,
      model,
      tools: ['math.*'],
      budget: { modelCalls: 100 },
    });
    expect(await last.send('and again')).toMatchObject({ reason: 'done' });
    expect(models.requests[4]?.tools).toEqual(['math__add']);
    expect(await last.send('and again')).toMatchObject({ reason: 'budget' });
    expect(models.requests).toHaveLength(5);
    await expect(last.spawn({ prompt: 'dig', callId: 'tc_1' })).rejects.toThrow('nested 1 deep');
  });

  it('works only for an open call of its parent', async () => {
    const problems: string[] = [];
    const trying = tool('task', async (_args: object, { agent, callId }) => {
      const tasks = [
        { prompt: 'help', callId: 'tc_nothing' },
        { prompt: 'help', callId: ended },
        { prompt: 'help', callId: foreign },
        { prompt: 'help', callId, tool: ['math.*'] },
        { prompt: 'help' },
      ];
      for (const task of tasks)
        await agent!.spawn(task as never).catch((error: Error) => problems.push(error.message));
    });
    const script: Script = [
      { calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] },
      { calls: [{ name: 'task' }] },
      'done',
    ];
    const { agent, board } = await aScene(script, {}, { tools: [trying, add] });
    let ended = '';
    agent.on('tool:end', ({ call }) => (ended ||= call.id));
    const { id: foreign } = await board.call('math.add', { a: 1, b: 2 });
    await agent.send('boss');
    const needed = 'spawn: callId must be an open call of this agent, such as context.callId: ';
    expect(problems).toEqual([
      `${needed}tc_nothing`,
      `${needed}${ended}`,
      `${needed}${foreign}`,
      'spawn: tool is not known; did you mean tools?',
      'spawn: callId must be a text; it is undefined',
    ]);
  });

  it('ends with the call it works for', async () => {
    let isStopped = false;
    const stuck = tool('math.add', async (_args: object, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      isStopped = true;
    });
    const { agent, board } = await aScene(helping, {}, { tools: [task, stuck] });
    let interrupted = Promise.resolve();
    agent.on('sub_agent_started', () => {
      const stop = board.host.engine.feed.listen(({ type, call }) => {
        if (type !== 'call.state' || call?.toolName !== 'math.add') return;
        stop();
        interrupted = agent.interrupt();
      });
    });
    const { reason, calls } = await agent.send('boss');
    expect(reason).toBe('interrupted');
    expect(calls[0]?.state).toBe('CANCELLED');
    await interrupted;
    await board.host.activeWork.close();
    expect(isStopped).toBe(true);
  });
});
