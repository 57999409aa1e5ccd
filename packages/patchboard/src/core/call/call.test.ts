import { CALL_STATES, isTerminal, statusOf } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { canMove, IllegalMove, isOpen, move } from './call.ts';

describe('move', () => {
  it('leads out of every open state and out of no terminal one', () => {
    for (const from of CALL_STATES) {
      const ways = CALL_STATES.filter((to) => canMove(from, to));
      expect(ways.length > 0, from).toBe(!isTerminal(from));
    }
  });

  it('reaches every state from PENDING', () => {
    const reached = new Set(['PENDING']);
    for (let round = 0; round < CALL_STATES.length; round += 1) {
      for (const from of CALL_STATES) {
        if (reached.has(from)) for (const to of CALL_STATES) if (canMove(from, to)) reached.add(to);
      }
    }
    expect([...reached].sort()).toEqual([...CALL_STATES].sort());
  });

  it('writes version and timeline, and refuses what is not in the table', () => {
    const call = aCall();
    const running = move(call, { name: 'EXECUTING', deadlineAt: 9, attempt: 1, cause: null }, 5);
    expect(running.version).toBe(call.version + 1);
    expect(running.timeline.at(-1)).toEqual({ state: 'EXECUTING', at: 5, attempt: 1 });
    const done = move(running, { name: 'COMPLETED', resultJson: '1', resultDigest: null }, 6);
    expect(isOpen(done)).toBe(false);
    expect(() => move(done, { name: 'EXECUTING', deadlineAt: 9, attempt: 2, cause: null }, 7)).toThrow(
      IllegalMove,
    );
    const asked = move(call, { name: 'APPROVAL_REQUIRED', deadlineAt: 9 }, 5);
    expect(() => move(asked, { name: 'COMPLETED', resultJson: '1', resultDigest: null }, 7)).toThrow(
      IllegalMove,
    );
  });

  it('never goes back: a status only ever advances', () => {
    const rank = { PENDING: 0, RUNNING: 1, SUCCEEDED: 2, FAILED: 2, TIMEOUT: 2 };
    for (const from of CALL_STATES) {
      for (const to of CALL_STATES) {
        if (canMove(from, to)) expect(rank[statusOf(to)]).toBeGreaterThanOrEqual(rank[statusOf(from)]);
      }
    }
  });
});
