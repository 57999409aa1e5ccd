import type { CallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { medianRunMs } from './health.ts';

function call(ran: number | null, attempts = 1): CallView {
  return { ran_ms: ran, attempts: Array.from({ length: attempts }) } as unknown as CallView;
}

describe('the median running time', () => {
  it('counts only calls that ran and ended', () => {
    expect(medianRunMs([call(30), call(10), call(0, 0), call(null)])).toBe(10);
    expect(medianRunMs([call(30), call(10), call(20)])).toBe(20);
    expect(medianRunMs([call(0, 0)])).toBeNull();
  });
});
