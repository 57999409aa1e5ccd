import { describe, expect, it } from 'vitest';
import {
  CALL_STATES,
  CALL_STATUSES,
  isCallState,
  isCallStatus,
  isTerminal,
  statesOf,
  statusOf,
} from './call-state.ts';

describe('call states', () => {
  it('shows every state as the status a polling agent knows', () => {
    expect(Object.fromEntries(CALL_STATES.map((state) => [state, statusOf(state)]))).toEqual({
      PENDING: 'PENDING',
      APPROVAL_REQUIRED: 'PENDING',
      APPROVED: 'PENDING',
      EXECUTING: 'RUNNING',
      COMPLETED: 'SUCCEEDED',
      FAILED: 'FAILED',
      TIMED_OUT: 'TIMEOUT',
      DENIED: 'FAILED',
      CANCELLED: 'FAILED',
      SEALED: 'FAILED',
    });
  });

  it('ends exactly where the status says so', () => {
    const over = new Set(['SUCCEEDED', 'FAILED', 'TIMEOUT']);
    for (const state of CALL_STATES)
      expect([state, isTerminal(state)]).toEqual([state, over.has(statusOf(state))]);
  });

  it('splits the states among the statuses without a rest', () => {
    const all = CALL_STATUSES.flatMap((status) => statesOf(status));
    expect(all.toSorted()).toEqual([...CALL_STATES].toSorted());
  });

  it('knows its own words and no inherited ones', () => {
    expect(CALL_STATES.every(isCallState)).toBe(true);
    expect(CALL_STATUSES.every(isCallStatus)).toBe(true);
    for (const other of [
      'pending',
      'toString',
      '__proto__',
      'constructor',
      '',
      null,
      undefined,
      7,
      ['PENDING'],
    ]) {
      expect([other, isCallState(other), isCallStatus(other)]).toEqual([other, false, false]);
    }
  });
});
