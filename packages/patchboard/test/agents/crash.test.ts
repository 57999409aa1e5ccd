import { describe, expect, it } from 'vitest';
import { closedAfterEach } from '../support/after-each.ts';
import { eventsOf } from '../support/agent-scene.ts';
import { afterCrash, checkCrash, CRASHES, withoutResult } from './after-crash.ts';

const closeLater = closedAfterEach();

/** One before a tool began, one while it ran and one after; crash.long.test.ts has them all. */
const REPRESENTATIVES = CRASHES.filter(([point, hit]) =>
  ['message.after 2', 'tool.effect 1', 'result.after 1'].includes(`${point} ${hit}`),
);

describe('an agent that is killed', () => {
  it.each(REPRESENTATIVES)(
    'at %s %i goes on, with a result for every request and nothing done twice',
    async (...crash) => {
      await checkCrash(closeLater, crash);
    },
  );

  it('is killed at three points', () => {
    expect(REPRESENTATIVES).toHaveLength(3);
  });

  it('while it waits for approval still waits, and does what is then approved, once', async () => {
    const { agent, board, effects } = await afterCrash(closeLater, 'asked.after', 1, true);
    const resumed = (await eventsOf(agent)).find((event) => event.type === 'agent_resumed');
    expect(resumed).toMatchObject({ sealed: [], waiting: [expect.any(String)] });
    const required = (await eventsOf(agent)).filter((event) => event.type === 'permission_required');
    expect(required).toHaveLength(1);
    const [{ call, respond }] = required as [(typeof required)[0]];
    expect((await board.get(call.id))?.state).toBe('APPROVAL_REQUIRED');
    expect(effects()).toEqual(['first', 'second']);
    const going = agent.continue();
    await respond('allow', { note: 'still wanted' });
    expect(await going).toMatchObject({ reason: 'done', text: 'The end.' });
    const decided = (await eventsOf(agent)).filter((event) => event.type === 'permission_decided');
    expect(decided).toMatchObject([{ callId: call.id, decision: 'allow', note: 'still wanted' }]);
    expect(effects()).toEqual(['first', 'second', 'third']);
    expect(withoutResult(agent.messages)).toEqual([]);
  });
});
