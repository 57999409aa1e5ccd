import { describe, expect, it } from 'vitest';
import { stretchesOf } from './timeline.ts';

const at = (ms: number): string => new Date(1_700_000_000_000 + ms).toISOString();

describe('stretchesOf', () => {
  it('splits the time of a call into intervals that add up to the whole', () => {
    const timeline = [
      { state: 'PENDING' as const, at: at(0) },
      { state: 'EXECUTING' as const, at: at(25), attempt: 1 },
      { state: 'COMPLETED' as const, at: at(100) },
    ];
    expect(stretchesOf({ timeline }, 0)).toMatchObject([
      { state: 'PENDING', lengthMs: 25, left: 0, width: 0.25, isOpen: false },
      { state: 'EXECUTING', lengthMs: 75, left: 0.25, width: 0.75, attempt: 1 },
    ]);
  });

  it('extends the last interval of an open call to now, also if the clocks differ', () => {
    const timeline = [{ state: 'PENDING' as const, at: at(0) }];
    expect(stretchesOf({ timeline }, 1_700_000_000_500)).toMatchObject([
      { lengthMs: 500, width: 1, isOpen: true },
    ]);
    expect(stretchesOf({ timeline }, 0)).toMatchObject([{ lengthMs: 0 }]);
    expect(stretchesOf({ timeline: [] }, 0)).toEqual([]);
  });
});
