import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { Heap } from '../core/ports.ts';

/** In the limit that V8 reports: the young generation, three semi-spaces of 64 MiB unless a flag says otherwise. */
const YOUNG_BYTES = 192 * 2 ** 20;
/** Below it a flag made the young generation smaller. Of such a heap a third is certainly not young. */
const LEAST_OLD_BYTES = 16 * 2 ** 20;

const YOUNG_SPACES: ReadonlySet<string> = new Set(['new_space', 'new_large_object_space']);

/** The old generation: V8 ends the process when that is full, however much room the young one has. */
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
