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
  it('maps every state to a status', () => {
    expect(Object.fromEntries(CALL_STATES.map((state) => [state, statusOf(state)]))).toEqual({
      PENDING: 'PENDING',
      APPROVAL_REQUIRED: 'PENDING',
      APPROVED: 'PENDING',
      EXECUTING: 'RUNNING',
      INPUT_REQUIRED: 'RUNNING',
      COMPLETED: 'SUCCEEDED',
      FAILED: 'FAILED',
      TIMED_OUT: 'TIMEOUT',
      DENIED: 'FAILED',
      CANCELLED: 'FAILED',
      SEALED: 'FAILED',
    });
  });

  it('is terminal exactly when its status is', () => {
    const terminal = new Set(['SUCCEEDED', 'FAILED', 'TIMEOUT']);
    for (const state of CALL_STATES)
      expect([state, isTerminal(state)]).toEqual([state, terminal.has(statusOf(state))]);
  });

  it('assigns every state to exactly one status', () => {
    const all = CALL_STATUSES.flatMap((status) => statesOf(status));
    expect(all.toSorted()).toEqual([...CALL_STATES].toSorted());
  });

  it('accepts only its own names, not properties inherited from Object', () => {
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
