import type { CallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { healthOf } from './health.ts';
import { bucketsOf } from './metric-series.ts';

function call(given: { waited: number; ran: number; attempts?: number }): CallView {
  const { waited, ran, attempts = 1 } = given;
  return {
    state: attempts === 0 ? 'DENIED' : 'COMPLETED',
    status: attempts === 0 ? 'FAILED' : 'SUCCEEDED',
    created_at: 1,
    waited_ms: waited,
    ran_ms: ran,
    duration_ms: waited + ran,
    attempts: Array.from({ length: attempts }, (_, index) => ({ attempt: index + 1 })),
  } as unknown as CallView;
}

const CALLS = [
  call({ waited: 60_000, ran: 10 }),
  call({ waited: 90_000, ran: 30 }),
  call({ waited: 5000, ran: 0, attempts: 0 }),
];

describe('the times of calls that waited for approval', () => {
  it('are separate in the health of a tool, which counts only execution as running', () => {
    const { medianMs, slowMs } = healthOf(CALLS);
    expect(medianMs).toEqual({ waited: 60_000, ran: 10, total: 60_010 });
    expect(slowMs).toEqual({ waited: 90_000, ran: 30, total: 90_030 });
  });

  it.each([
    ['waited', 60_000],
    ['ran', 10],
    ['total', 60_010],
  ] as const)('are told apart in a chart: %s', (measure, median) => {
    const [bucket] = bucketsOf(CALLS, { from: 0, to: 2000, count: 1, measure });
    expect(bucket?.p50).toBe(median);
  });
});
