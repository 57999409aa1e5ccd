import { describe, expect, it } from 'vitest';
import { aBoard } from '../../../test/support/a-board.ts';
import { aFolder } from '../../../test/support/a-folder.ts';
import { add, eventsOf, scenes } from '../../../test/support/agent-scene.ts';
import { Agent, sqlite, tool, type AgentEvent, type BoardOptions, type Patchboard } from '../../index.ts';
import type { Script } from '../../testing/index.ts';

const { aModel } = scenes();

async function aBoardIn(folder: string, options: BoardOptions = {}): Promise<Patchboard> {
  return await aBoard({ tools: [add], store: sqlite(folder), ...options });
}

const script: Script = ({ body }) => {
  const { messages } = body as { messages: { role: string }[] };
  return messages.at(-1)?.role === 'tool'
    ? 'It is 3.'
    : { calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] };
};

describe('a board that is closed while an agent runs', () => {
  it('stops it where it can be resumed', async () => {
    const folder = await aFolder();
    const { model } = await aModel(script);
    let release = (): void => {};
    const slow = tool('math.add', async ({ a, b }: { a: number; b: number }) => {
      await new Promise<void>((resolve) => (release = resolve));
      return { sum: a + b };
    });
    const board = await aBoardIn(folder, { tools: [slow] });
    const agent = new Agent({ board, model, id: 'talk' });
    const begun = new Promise((resolve) => agent.on('tool:start', resolve));
    const sent = agent.send('1 + 2?');
    await begun;
    const closed = board.close();
    await expect(sent).rejects.toThrow("continue with Agent.resume('talk')");
    release();
    await closed;
    const again = await Agent.resume('talk', { board: await aBoardIn(folder), model });
    // The call was allowed to finish, so no outcome is unknown.
    expect(again.messages.at(-1)?.content).toMatchObject([{ type: 'tool_result', content: { sum: 3 } }]);
    expect(await again.continue()).toMatchObject({ text: 'It is 3.', reason: 'done' });
  });

  it('aborts a streaming reply, which is requested again after the resume', async () => {
    const folder = await aFolder();
    const { model } = await aModel(({ index }) =>
      index === 0 ? { text: 'Once upon a time there', ending: 'hang' } : 'Once.',
    );
    const board = await aBoardIn(folder);
    const agent = new Agent({ board, model, id: 'talk' });
    const speaking = new Promise((resolve) => agent.on('text_delta', resolve));
    const sent = agent.send('A story?');
    await speaking;
    await Promise.all([board.close(), expect(sent).rejects.toThrow('the board was closed')]);
    const again = await Agent.resume('talk', { board: await aBoardIn(folder), model });
    expect(again.messages).toHaveLength(1);
    expect((await again.continue()).text).toBe('Once.');
  });
});

describe('an agent that was resumed', () => {
  it('has its conversation, its spent budget and its events', async () => {
    const folder = await aFolder();
    const { model, models } = await aModel(script);
    const first = await aBoardIn(folder);
    const agent = new Agent({ board: first, model, id: 'talk', name: 'ann', budget: { modelCalls: 3 } });
    await agent.send('1 + 2?');
    const before = await eventsOf(agent);
    await first.close();

    const board = await aBoardIn(folder);
    const again = await Agent.resume('talk', { board, model, budget: { modelCalls: 3 } });
    expect(again.name).toBe('ann');
    expect(again.messages).toEqual(agent.messages);
    expect(again.isUnfinished).toBe(false);
    const middle = before[Math.floor(before.length / 2)]!;
    const seen: AgentEvent[] = [];
    const enough = new AbortController();
    const watching = (async () => {
      for await (const event of again.subscribe({ since: middle.bookmark, signal: enough.signal }))
        seen.push(event);
    })();
    expect(await again.send('and again?')).toMatchObject({ reason: 'budget' });
    expect(models.requests).toHaveLength(3);
    const all = await eventsOf(again);
    while (seen.at(-1)?.bookmark !== all.at(-1)?.bookmark)
      await new Promise((resolve) => setImmediate(resolve));
    enough.abort();
    await watching;
    const plain = (events: readonly AgentEvent[]) => events.map(({ bookmark, type }) => [bookmark, type]);
    expect(plain(all).slice(0, before.length)).toEqual(plain(before));
    expect(plain(seen)).toEqual(plain(all.filter(({ bookmark }) => bookmark > middle.bookmark)));
  });

  it('throws with the number of a damaged journal entry', async () => {
    const { model } = await aModel(() => 'hello');
    const board = await aBoardIn(await aFolder());
    await board.host.store.appendJournal('talk', 0, [{ kind: 'created', body: '{"name":' }]);
    await expect(Agent.resume('talk', { board, model })).rejects.toThrow(
      'entry 1 of the journal of talk is damaged',
    );
  });

  it('fences off the old instance', async () => {
    const { model } = await aModel(() => 'hello');
    const board = await aBoardIn(await aFolder());
    const old = new Agent({ board, model, id: 'talk' });
    await old.send('hi');
    const current = await Agent.resume('talk', { board, model });
    await current.send('hi');
    await expect(old.send('hi')).rejects.toThrow('another agent has the id talk');
    expect((await Agent.resume('talk', { board, model })).messages).toHaveLength(4);
  });
});
