import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventsOf, scenes } from '../../../test/support/agent-scene.ts';
import { sqlite, type Agent, type AgentEvent, type BoardStore, type SubscribeOptions } from '../../index.ts';

const { aScene } = scenes();
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function onDisk(): Promise<BoardStore> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-subscriptions-'));
  folders.push(folder);
  return sqlite(folder);
}

async function allOf(agent: Agent, options?: SubscribeOptions): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of agent.subscribe(options)) seen.push(event);
  return seen;
}

describe('closing the board', () => {
  it.each(['memory', 'disk'])('ends a subscription that waits, after the last event (%s)', async (where) => {
    const store = where === 'disk' ? { store: await onDisk() } : {};
    const { agent, board } = await aScene(['hello'], {}, store);
    const following = allOf(agent);
    await agent.send('hi');
    const before = await eventsOf(agent);
    await board.close();
    expect(await following).toMatchObject(before.map(({ bookmark, type }) => ({ bookmark, type })));
  });

  it('ends it after the last events of the agent that was stopped', async () => {
    const { agent, board } = await aScene(
      [{ text: 'Once upon a time', ending: 'hang' }],
      {},
      { store: await onDisk() },
    );
    const following = allOf(agent, { channels: ['monitor'] });
    const speaking = new Promise((resolve) => agent.on('text_delta', resolve));
    const sent = agent.send('A story?');
    await speaking;
    await Promise.all([board.close(), expect(sent).rejects.toThrow('the board was closed')]);
    expect((await following).at(-1)).toMatchObject({ type: 'state_changed', state: 'idle' });
  });

  it('ends it for slow readers, and for subscriptions that begin later', async () => {
    const { agent, board } = await aScene(['hello'], {}, { store: await onDisk() });
    await agent.send('hi');
    const slow = agent.subscribe()[Symbol.asyncIterator]();
    expect(await slow.next()).toMatchObject({ done: false });
    await board.close();
    let next = await slow.next();
    while (next.done !== true) next = await slow.next();
    expect(await allOf(agent)).toEqual([]);
  });
});

describe('a subscription', () => {
  it.each<[string, unknown, string]>([
    ['since NaN', { since: Number.NaN }, 'subscribe: since must be a whole number of at least 0; it is NaN'],
    ['since -1', { since: -1 }, 'since must be a whole number of at least 0; it is -1'],
    ["since '7'", { since: '7' }, "since must be a whole number of at least 0; it is '7'"],
    ['a channel that is none', { channels: ['progres'] }, "channels[0] is 'progres'; did you mean progress?"],
    ['a channel by itself', { channels: 'progress' }, "channels must be a list: write ['progress']"],
    ['an option that is none', { sinse: 1 }, 'sinse is not known; did you mean since?'],
  ])('is refused at once for %s', async (_what, options, problem) => {
    const { agent } = await aScene([]);
    expect(() => agent.subscribe(options as SubscribeOptions)).toThrow(problem);
  });
});
