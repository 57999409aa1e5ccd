import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { nodeHeap, oldLimit } from './node-heap.ts';

const MIB = 2 ** 20;

/** Returns the `heap_size_limit` that V8 reports in a process with these flags. */
function heapLimit(...flags: string[]): number {
  const script = "process.stdout.write(String(require('node:v8').getHeapStatistics().heap_size_limit))";
  return Number(execFileSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8' }));
}

describe('the limit of the old generation', () => {
  it.each([96, 512])('equals the flag: %i MB', (megabytes) => {
    expect(oldLimit(heapLimit(`--max-old-space-size=${megabytes}`))).toBe(megabytes * MIB);
  });

  it('does not exceed the flag when the young generation is small', () => {
    const limit = oldLimit(heapLimit('--max-old-space-size=96', '--max-semi-space-size=8'));
    expect(limit).toBeGreaterThan(16 * MIB);
    expect(limit).toBeLessThanOrEqual(96 * MIB);
    expect(oldLimit(heapLimit('--max-heap-size=96'))).toBeLessThan(96 * MIB);
  });

  it('is above the bytes in use', () => {
    expect(nodeHeap.usedBytes()).toBeGreaterThan(MIB);
    expect(nodeHeap.usedBytes()).toBeLessThan(nodeHeap.limitBytes);
  });
});
