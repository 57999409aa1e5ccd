import { describe, expect, it } from 'vitest';
import { timeByPart, type CpuProfile } from '../bench/cpu-profile.ts';

function node(
  id: number,
  functionName: string,
  url: string,
  children: number[] = [],
): CpuProfile['nodes'][number] {
  return { id, callFrame: { functionName, url }, children };
}

const PROFILE: CpuProfile = {
  nodes: [
    node(1, '(root)', '', [2, 3, 5, 7, 8]),
    node(2, '(idle)', ''),
    node(3, 'commit', 'file:///app/packages/patchboard/src/store/sqlite/transactions.ts', [4]),
    node(4, 'fdatasync', 'node:fs'),
    node(5, 'onread', 'node:net', [6]),
    node(6, 'writeUtf8String', ''),
    node(7, '(garbage collector)', ''),
    node(8, 'strange', ''),
  ],
  startTime: 1000,
  samples: [2, 3, 4, 5, 6, 7, 8, 3],
  timeDeltas: [10, 10, 10, 10, 10, 10, 10, 10],
};

describe('the time by part of a CPU profile', () => {
  it('counts a function of no part as its caller, and leaves idle time out', () => {
    const times = [...timeByPart(PROFILE, 0, 2000)].filter(([, us]) => us > 0);
    expect(times).toEqual([
      ["Node's HTTP, sockets, timers, promises", 20],
      ['store, with SQLite', 30],
      ['garbage collection', 10],
      ['other', 10],
    ]);
  });

  it('counts the samples between two times only', () => {
    const times = [...timeByPart(PROFILE, 1010, 1030)].filter(([, us]) => us > 0);
    expect(times).toEqual([['store, with SQLite', 20]]);
  });
});
