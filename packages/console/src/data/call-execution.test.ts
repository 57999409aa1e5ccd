import type { AttemptView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { devicesOf, ranMsOf } from './call-execution.ts';

function attempt(number: number, device?: string): AttemptView {
  const times = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:00:01Z' };
  return { attempt: number, ...times, code: null, ...(device === undefined ? {} : { device }) };
}

describe('ranMsOf', () => {
  it('returns null for a call that was never executed, whose record has 0', () => {
    expect(ranMsOf({ attempts: [], ran_ms: 0 })).toBeNull();
  });

  it('returns the time of a call that was executed, also of one that took none', () => {
    expect(ranMsOf({ attempts: [attempt(1)], ran_ms: 0 })).toBe(0);
    expect(ranMsOf({ attempts: [attempt(1)], ran_ms: null })).toBeNull();
  });
});

describe('devicesOf', () => {
  it('returns each device of the attempts once', () => {
    expect(devicesOf({ attempts: [attempt(1, 'a'), attempt(2), attempt(3, 'b'), attempt(4, 'a')] })).toEqual([
      'a',
      'b',
    ]);
    expect(devicesOf({ attempts: [attempt(1)] })).toEqual([]);
  });
});
