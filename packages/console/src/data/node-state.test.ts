import { describe, expect, it } from 'vitest';
import { shownNodeState } from './node-state.ts';

describe('the state of a node', () => {
  it.each([
    ['running', null, 'running'],
    ['running', 500, 'running'],
    ['running', 2001, 'silent'],
    ['leaving', 400, 'leaving'],
    ['leaving', 9000, 'silent'],
    ['free', 90_000, 'free'],
  ] as const)('%s with a heartbeat %j ms ago is shown as %s', (state, lastBeatMs, shown) => {
    expect(shownNodeState({ state, last_beat_ms: lastBeatMs })).toBe(shown);
  });
});
