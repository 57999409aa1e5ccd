import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, resolveLimits, withinHeap } from './limits.ts';

const MIB = 2 ** 20;

describe('limits within a heap', () => {
  it('are the configured ones where the heap has room for them', () => {
    expect(withinHeap(DEFAULT_LIMITS, 16_384 * MIB)).toEqual(DEFAULT_LIMITS);
    expect(withinHeap(DEFAULT_LIMITS, 4096 * MIB).openBytesPerTenant).toBe(DEFAULT_LIMITS.openBytesPerTenant);
  });

  it('are what the heap has room for where that is less, at two bytes for a character', () => {
    const { openBytesServer, openBytesPerTenant } = withinHeap(DEFAULT_LIMITS, 96 * MIB);
    expect([openBytesServer, openBytesPerTenant]).toEqual([8 * MIB, 6 * MIB]);
    const low = resolveLimits({ openBytesServer: 5000, openBytesPerTenant: 1000 });
    expect(withinHeap(low, 96 * MIB)).toEqual(low);
  });
});
