import { expect, it } from 'vitest';
import { stepOfRow } from './ledger-step.ts';

it('reads the state that a call entered, and nothing from other rows', () => {
  expect(stepOfRow({ kind: 'call.state', body: { state: 'FAILED', code: 'timeout' } })).toEqual({
    state: 'FAILED',
    code: 'timeout',
  });
  expect(stepOfRow({ kind: 'call.state', body: { state: 'EXECUTING', attempt: 1 } })).toEqual({
    state: 'EXECUTING',
    code: '',
  });
  for (const body of [null, 'EXECUTING', { state: 'NONE' }, {}])
    expect(stepOfRow({ kind: 'call.state', body })).toBeNull();
  expect(stepOfRow({ kind: 'policy.changed', body: { state: 'FAILED' } })).toBeNull();
});
