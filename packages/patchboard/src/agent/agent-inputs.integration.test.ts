import { describe, expect, it } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { aFolder } from '../../test/support/a-folder.ts';
import { eventsOf, scenes } from '../../test/support/agent-scene.ts';
import { Agent, inputRequired, sqlite, tool, type AgentEventOf, type Log } from '../index.ts';
import type { Script } from '../testing/index.ts';

const { aScene, aModel } = scenes();
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const REQUEST = { message: 'Which city?', schema } as const;
const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} };
const PARIS = { city: 'Paris' };
const held = tool('trip.plan', (_args, context) => context.requestInput(REQUEST));
const returned = tool('trip.plan', (_args, { inputs }) =>
  inputs['input'] === undefined ? inputRequired(REQUEST) : inputs['input'].content,
);
/** The model calls the tool, reads its result and ends. */
const script: Script = ({ body }) => {
  const { messages } = body as { messages: { role: string }[] };
  return messages.at(-1)?.role === 'tool' ? 'ok' : { calls: [{ name: 'trip.plan' }] };
};

describe.each([
  ['held', held],
  ['returned', returned],
])('an agent whose tool asks with a %s request', (_kind, ask) => {
  it('emits input_required on the control channel, and respond passes the content to the tool', async () => {
    const { agent } = await aScene(script, {}, { tools: [ask] });
    const states: string[] = [];
    agent.on('state_changed', ({ state }) => states.push(state));
    agent.on('input_required', ({ respond }) => respond(PARIS));
    const { calls } = await agent.send('Plan a trip.');
    expect(calls).toMatchObject([{ state: 'COMPLETED', result: { city: 'Paris' } }]);
    const control = (await eventsOf(agent)).filter(({ channel }) => channel === 'control');
    expect(control).toMatchObject([
      {
        type: 'input_required',
        agentId: agent.id,
        call: { id: calls[0]?.id, state: 'INPUT_REQUIRED' },
        request: { id: 'in_1', ...REQUEST },
      },
      { type: 'input_given', callId: calls[0]?.id, requestId: 'in_1', action: 'accept' },
    ]);
    // The content may be a secret; only the record has it.
    expect(JSON.stringify(control)).not.toContain('Paris');
    expect(states).toEqual(['working', 'waiting', 'working', 'idle']);
  });

  it('passes a declined request on to the model', async () => {
    const { agent } = await aScene(script, {}, { tools: [ask] });
    agent.on('input_required', ({ decline }) => decline());
    const { calls } = await agent.send('Plan a trip.');
    expect(calls).toMatchObject([{ state: 'FAILED', code: 'input_declined' }]);
    expect(agent.messages[2]?.content[0]).toMatchObject({ content: { code: 'input_declined' } });
  });

  it('cannot give input if nothing listens: the model reads why', async () => {
    const { agent } = await aScene(script, {}, { tools: [ask] });
    const { calls } = await agent.send('Plan a trip.');
    expect(calls).toMatchObject([{ state: 'FAILED', code: 'input_unavailable' }]);
    expect(agent.messages[2]?.content[0]).toMatchObject({
      is_error: true,
      content: {
        code: 'input_unavailable',
        error: 'trip.plan needs input (form) from its caller, and this caller cannot give it',
      },
    });
  });

  it('responds only to requests of its own calls, once, with content that fits', async () => {
    const { agent, board } = await aScene(script, {}, { tools: [ask] });
    const foreign = await board.invoke('trip.plan', {}, { acceptsInput: true });
    await expect(agent.respondInput(foreign.id, { id: 'in_1', content: PARIS })).rejects.toThrow(
      'no call of this agent',
    );
    agent.on('input_required', async ({ call, respond }) => {
      await expect(respond({ city: 7 })).rejects.toMatchObject({
        failure: { code: 'input_invalid' },
      });
      await expect(agent.respondInput(call.id, { contents: {} } as never)).rejects.toThrow(
        'did you mean content?',
      );
      await agent.respondInput(call.id, { id: 'in_1', content: PARIS });
      await expect(respond(PARIS)).rejects.toMatchObject({ failure: { code: 'conflict' } });
    });
    expect((await agent.send('Plan a trip.')).calls[0]?.state).toBe('COMPLETED');
    await board.cancel(foreign.id);
  });
});

describe('an agent that is interrupted while its tool asks', () => {
  it('cancels the call and stops waiting', async () => {
    const { agent } = await aScene(script, {}, { tools: [held] });
    agent.on('input_required', () => void agent.interrupt());
    const { calls, reason } = await agent.send('Plan a trip.');
    expect(reason).toBe('interrupted');
    expect(calls).toMatchObject([{ state: 'CANCELLED' }]);
    expect(agent.state).toBe('idle');
  });
});

describe('a sub-agent whose tool asks', () => {
  const task = tool('task', async (_args, { agent, callId, signal }) => {
    if (agent === undefined) throw new Error('only an agent can be given a task');
    return await agent.spawn({ prompt: 'help', callId, signal, tools: ['trip.plan'] });
  });
  const nested: Script = (request) => {
    const { messages } = request.body as { messages: { role: string; content: unknown }[] };
    const isBoss = JSON.stringify(messages[0]).includes('boss');
    if (messages.length > 1) return 'ok';
    return { calls: [{ name: isBoss ? 'task' : 'trip.plan' }] };
  };

  it("reaches the parent's listeners", async () => {
    const { agent, board } = await aScene(nested, {}, { tools: [task, held] });
    const asked: AgentEventOf<'input_required'>[] = [];
    agent.on('input_required', async (event) => {
      asked.push(event);
      await event.respond(PARIS);
    });
    await agent.send('boss');
    expect(asked).toMatchObject([{ call: { name: 'trip.plan' }, request: { id: 'in_1' } }]);
    expect(asked[0]?.agentId).not.toBe(agent.id);
    expect(await board.get(asked[0]?.call.id ?? '')).toMatchObject({ result: { city: 'Paris' } });
    const given = (await eventsOf(agent)).filter(({ type }) => type === 'input_given');
    expect(given).toMatchObject([{ requestId: 'in_1', agentId: asked[0]?.agentId }]);
  });

  it('cannot give input if nothing listens to the parent', async () => {
    const { agent, board } = await aScene(nested, {}, { tools: [task, held] });
    await agent.send('boss');
    const { items } = await board.host.engine.calls.list(
      board.host.principal('embedded'),
      { toolName: 'trip.plan' },
      null,
      10,
    );
    expect(items).toMatchObject([{ state: { name: 'FAILED', error: { code: 'input_unavailable' } } }]);
  });
});

describe('an agent that is resumed while its tool asks', () => {
  async function resumed(log: Log = SILENT): Promise<Agent> {
    const folder = await aFolder();
    const { model } = await aModel(script);
    const before = await aBoard({ tools: [returned], store: sqlite(folder) });
    const first = new Agent({ board: before, model, id: 'talk' });
    const asked = new Promise((resolve) => first.on('input_required', resolve));
    const sent = first.send('Plan a trip.');
    await asked;
    await Promise.all([before.close(), expect(sent).rejects.toThrow("Agent.resume('talk')")]);
    const board = await aBoard({ tools: [returned], store: sqlite(folder), log });
    return await Agent.resume('talk', { board, model });
  }

  it('offers a returned request again, and continues with the response', async () => {
    const agent = await resumed();
    const states: string[] = [];
    agent.on('state_changed', ({ state }) => states.push(state));
    agent.on('input_required', ({ request, respond }) => {
      expect(request).toMatchObject({ id: 'in_1', ...REQUEST });
      return respond(PARIS);
    });
    const { calls, text } = await agent.continue();
    expect(text).toBe('ok');
    expect(calls).toMatchObject([{ state: 'COMPLETED', result: { city: 'Paris' } }]);
    expect(states).toEqual(['working', 'waiting', 'working', 'idle']);
    const [event] = (await eventsOf(agent)).filter(({ type }) => type === 'agent_resumed');
    expect(event).toMatchObject({ waiting: [calls[0]?.id] });
  });

  it('warns once if nothing listens, and takes the response by respondInput', async () => {
    const warned: unknown[] = [];
    let heard = (_fields: unknown): void => {};
    const first = new Promise((resolve) => (heard = resolve));
    const warn: Log['warn'] = (event, fields) => {
      if (event !== 'agent.input_unheard') return;
      warned.push(fields);
      heard(fields);
    };
    const agent = await resumed({ ...SILENT, warn });
    const continued = agent.continue();
    const { tool_call_id: id } = (await first) as { tool_call_id: string };
    await agent.respondInput(id, { id: 'in_1', content: PARIS });
    expect((await continued).calls).toMatchObject([{ id, state: 'COMPLETED' }]);
    expect(warned).toMatchObject([{ agent_id: 'talk', tool_name: 'trip.plan' }]);
  });
});
