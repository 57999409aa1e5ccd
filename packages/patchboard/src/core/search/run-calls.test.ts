import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal } from '../../../test/support/an-engine.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { runCalls, runOutcome } from './run-calls.ts';

const run = { id: 'run_1', tenant: 'default', agentId: 'ada', createdAt: 1, cancelledAt: null };

describe('the calls of a run', () => {
  it('are counted by state, the open and the failed ones apart', () => {
    const ended = { byState: { COMPLETED: 5, DENIED: 1, FAILED: 2 }, lastEndedAt: 9 };
    expect(runCalls({ EXECUTING: 3 }, ended)).toEqual({
      total: 11,
      open: 3,
      failed: 3,
      byState: { EXECUTING: 3, COMPLETED: 5, FAILED: 2, DENIED: 1 },
      lastEndedAt: 9,
    });
    expect(runCalls({}, undefined)).toEqual({ total: 0, open: 0, failed: 0, byState: {}, lastEndedAt: null });
  });

  it('decide its outcome: open calls first, then a cancel, then failures', () => {
    const completed = runCalls({}, { byState: { COMPLETED: 1 }, lastEndedAt: 9 });
    const failed = runCalls({}, { byState: { COMPLETED: 1, TIMED_OUT: 1 }, lastEndedAt: 9 });
    const open = runCalls({ APPROVAL_REQUIRED: 1 }, { byState: { FAILED: 1 }, lastEndedAt: 9 });
    const empty = runCalls({}, undefined);
    const outcomes = (cancelledAt: number | null): string[] =>
      [open, failed, completed, empty].map((calls) => runOutcome({ ...run, cancelledAt }, calls));
    expect(outcomes(null)).toEqual(['running', 'failed', 'completed', 'empty']);
    expect(outcomes(7)).toEqual(['running', 'cancelled', 'cancelled', 'cancelled']);
  });

  it('are not counted, and the run is still listed, if the index cannot be read', async () => {
    const broken = { position: () => Promise.reject(new Error('no such file')) };
    const store = new Proxy(memoryStore({ digest: nodeDigest }), {
      get: (target, name) => {
        if (name === 'search') return broken;
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    const logged: unknown[] = [];
    const log = {
      info: () => {},
      error: () => {},
      warn: (event: string, fields: unknown) => logged.push(event, fields),
    };
    const { engine } = await anEngine({ store, log });
    expect(await engine.searches.countRuns(aPrincipal(), [run])).toEqual({ calls: [], isComplete: false });
    expect(logged).toEqual(['search.counts_failed', { error: 'no such file' }]);
  });
});
