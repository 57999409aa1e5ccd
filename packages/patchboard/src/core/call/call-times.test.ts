import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { timesOf } from './call-times.ts';

const COMPLETED = { name: 'COMPLETED', resultJson: '1', resultDigest: null } as const;

describe('how a call spent its time', () => {
  it('is not known while it is open', () => {
    expect(timesOf(aCall({ createdAt: 1000 }))).toBeNull();
  });

  it('counts what came before the first execution as waiting, and further attempts as running', () => {
    const call = aCall({
      createdAt: 1000,
      state: COMPLETED,
      timeline: [
        { state: 'PENDING', at: 1000 },
        { state: 'APPROVAL_REQUIRED', at: 1000 },
        { state: 'APPROVED', at: 61_000 },
        { state: 'EXECUTING', at: 61_500, attempt: 1 },
        { state: 'EXECUTING', at: 61_700, attempt: 2, code: 'upstream_unreachable' },
        { state: 'COMPLETED', at: 62_000 },
      ],
    });
    expect(timesOf(call)).toEqual({ waitedMs: 60_500, ranMs: 500, totalMs: 61_000 });
  });

  it('is all waiting where nothing was executed', () => {
    const call = aCall({
      createdAt: 1000,
      state: COMPLETED,
      timeline: [
        { state: 'PENDING', at: 1000 },
        { state: 'DENIED', at: 4000 },
      ],
    });
    expect(timesOf(call)).toEqual({ waitedMs: 3000, ranMs: 0, totalMs: 3000 });
  });
});
