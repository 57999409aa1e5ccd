import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { Heap } from '../core/ports.ts';

/** Size of the young generation, which V8's reported limit includes: three semi-spaces of 64 MiB unless a flag changes it. */
const YOUNG_BYTES = 192 * 2 ** 20;
/** A smaller difference means that a flag shrank the young generation. At least a third of such a heap is old. */
const LEAST_OLD_BYTES = 16 * 2 ** 20;

const YOUNG_SPACES: ReadonlySet<string> = new Set(['new_space', 'new_large_object_space']);

/** Measures the old generation: V8 ends the process when it is full, even if the young generation has room. */
export const nodeHeap: Heap = {
  limitBytes: oldLimit(getHeapStatistics().heap_size_limit),
  usedBytes: () => {
    let used = 0;
    for (const { space_name: name, space_used_size: bytes } of getHeapSpaceStatistics())
      if (!YOUNG_SPACES.has(name)) used += bytes;
    return used;
  },
};

export function oldLimit(heapLimit: number): number {
  const old = heapLimit - YOUNG_BYTES;
  return old >= LEAST_OLD_BYTES ? old : Math.floor(heapLimit / 3);
}
