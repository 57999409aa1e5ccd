import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeOn, scaleOf, segmentsOf, unionMs } from './call-segments.ts';
import { summaryOf } from './run-summary.ts';
import { aTracedCall } from './traced-call.samples.ts';

const approved = aTracedCall('approved', {
  states: [
    ['PENDING', 0],
    ['APPROVAL_REQUIRED', 10],
    ['APPROVED', 110],
    ['EXECUTING', 120, '', 1],
    ['EXECUTING', 150, 'client_gone', 2],
    ['INPUT_REQUIRED', 160],
    ['EXECUTING', 180, '', 2],
    ['FAILED', 200, 'tool_failed'],
  ],
});
const open = aTracedCall('open', {
  states: [
    ['PENDING', 50],
    ['EXECUTING', 60],
  ],
});

describe('segments of a call', () => {
  it('are waiting, approval, attempts and input requests, each with the reason of its end', () => {
    expect(segmentsOf(approved, 0).map(({ state, from, to, code }) => [state, from, to, code])).toEqual([
      ['PENDING', 0, 10, ''],
      ['APPROVAL_REQUIRED', 10, 110, ''],
      ['APPROVED', 110, 120, ''],
      ['EXECUTING', 120, 150, 'client_gone'],
      ['EXECUTING', 150, 160, ''],
      ['INPUT_REQUIRED', 160, 180, ''],
      ['EXECUTING', 180, 200, 'tool_failed'],
    ]);
  });

  it('of an open call grow with time, and never end before they begin', () => {
    expect(segmentsOf(open, 500).at(-1)).toMatchObject({ from: 60, to: 500, isOpen: true });
    expect(segmentsOf(open, 0).at(-1)).toMatchObject({ from: 60, to: 60 });
  });

  it('have places on the scale of all calls', () => {
    const scale = scaleOf([approved, open], 400);
    expect(scale).toEqual({ from: 0, to: 400 });
    expect(placeOn(scale, { from: 100, to: 200 })).toEqual({ left: 0.25, width: 0.25 });
    expect(scaleOf([], 7)).toEqual({ from: 7, to: 8 });
  });
});

describe('the summary of calls', () => {
  it('counts time in which calls ran at once only once, and names the slowest and the waiting', () => {
    const waiting = aTracedCall('waiting', { states: [['APPROVAL_REQUIRED', 150]] });
    expect(summaryOf([approved, open, waiting], 400)).toMatchObject({
      from: 0,
      to: 400,
      // From 60, when the open call began to run, until now.
      busyMs: 340,
      approvalMs: 100 + 250,
      slowest: { call: { id: 'open' }, ranMs: 340 },
      waiting: [{ id: 'waiting' }],
      open: 2,
      failed: 1,
    });
    expect(summaryOf([], 0)).toBeNull();
  });

  it('names the call that was executed longest: waits do not make a call slow', () => {
    const brief = aTracedCall('brief', {
      states: [
        ['PENDING', 0],
        ['EXECUTING', 0],
        ['COMPLETED', 70],
      ],
    });
    // It lasted 200 ms, of which 60 in execution.
    expect(summaryOf([approved, brief], 0)?.slowest).toMatchObject({ call: { id: 'brief' }, ranMs: 70 });
    const waiting = aTracedCall('waiting', { states: [['APPROVAL_REQUIRED', 0]] });
    expect(summaryOf([waiting], 900)?.slowest).toBeNull();
  });

  it('has the union of intervals: the milliseconds that are in one of them', () => {
    const interval = fc
      .tuple(fc.nat({ max: 50 }), fc.nat({ max: 20 }))
      .map(([from, length]) => ({ from, to: from + length }));
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 12 }), (intervals) => {
        const inside = Array.from({ length: 80 }, (_, at) => at).filter((at) =>
          intervals.some(({ from, to }) => at >= from && at < to),
        );
        expect(unionMs(intervals)).toBe(inside.length);
      }),
    );
  });
});
