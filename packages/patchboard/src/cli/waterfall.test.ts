import type { CallView, TimelineEntryView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { callTree } from './call-tree.ts';
import { barOf, spanOf, spanText } from './waterfall.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

/** Times in milliseconds after the start; null: it has not happened. */
function aCall(id: string, from: number, ran: number | null, to: number | null, parent?: string): CallView {
  const entry = (state: TimelineEntryView['state'], at: number | null): TimelineEntryView[] =>
    at === null ? [] : [{ state, at: new Date(START + at).toISOString() }];
  return {
    tool_call_id: id,
    created_at: Math.floor((START + from) / 1000),
    completed_at: to === null ? null : Math.floor((START + to) / 1000),
    timeline: [...entry('PENDING', from), ...entry('EXECUTING', ran), ...entry('COMPLETED', to)],
    ...(parent === undefined ? {} : { parent_call_id: parent }),
  } as unknown as CallView;
}

describe('the bars of a run', () => {
  it('show when each call waited and ran, to the millisecond', () => {
    const calls = [aCall('a', 0, 0, 500), aCall('b', 500, 750, 1000), aCall('c', 999, null, 1000)];
    const span = spanOf(calls, START + 60_000);
    expect(spanText(span)).toBe('1 s');
    expect(calls.map((call) => barOf(call, span, 8))).toEqual(['████', '    ░░██', '       ░']);
  });

  it('last until now for an open call, and have a block for each that ran', () => {
    const calls = [aCall('a', 0, 1, 2), aCall('b', 0, 5000, null)];
    const span = spanOf(calls, START + 10_000);
    expect(calls.map((call) => barOf(call, span, 10))).toEqual(['█', '░░░░░█████']);
  });

  it('have a block for a call that ended within the millisecond in which it began', () => {
    const calls = [aCall('a', 0, 0, 0), aCall('b', 3, 10, 10)];
    expect(calls.map((call) => barOf(call, spanOf(calls, START), 10))).toEqual(['█', '   ░░░░░░█']);
  });
});

describe('the tree of a run', () => {
  it('has calls of sub-agents below the call that started them', () => {
    const calls = [
      aCall('a', 0, 0, 1),
      aCall('b', 0, 0, 1, 'a'),
      aCall('c', 0, 0, 1, 'b'),
      aCall('d', 0, 0, 1, 'a'),
      aCall('e', 0, 0, 1, 'elsewhere'),
    ];
    expect(callTree(calls).map(({ call, prefix }) => `${prefix}${call.tool_call_id}`)).toEqual([
      'a',
      '├─b',
      '│ └─c',
      '└─d',
      'e',
    ]);
  });
});
