import type { CallView, TimelineEntryView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { waitsText } from './call-waits.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

/** `timeline`: states with their times, in milliseconds after the start. */
function aCall(
  timeline: readonly (readonly [TimelineEntryView['state'], number])[],
  more: Partial<CallView> = {},
): CallView {
  return {
    state: timeline.at(-1)?.[0],
    timeline: timeline.map(([state, at]) => ({ state, at: new Date(START + at).toISOString() })),
    approval: null,
    error: null,
    ...more,
  } as unknown as CallView;
}

describe('what a call waited for', () => {
  const approval = { required: true, digest: '', expires_at: '' };

  it.each<[string, CallView, string]>([
    [
      'nothing for long',
      aCall([
        ['PENDING', 0],
        ['EXECUTING', 99],
        ['COMPLETED', 500],
      ]),
      '',
    ],
    [
      'a slot',
      aCall([
        ['PENDING', 0],
        ['EXECUTING', 1500],
      ]),
      'queue 1.50 s',
    ],
    [
      'an approval and input',
      aCall(
        [
          ['PENDING', 0],
          ['APPROVAL_REQUIRED', 1],
          ['APPROVED', 12_301],
          ['EXECUTING', 12_302],
          ['INPUT_REQUIRED', 13_000],
          ['EXECUTING', 15_000],
          ['COMPLETED', 15_001],
        ],
        { approval: { ...approval, decision: 'allow', decided_by: 'ana' } },
      ),
      'approval 12.3 s (approved by ana), input 2 s',
    ],
    [
      'an approval that is open',
      aCall(
        [
          ['PENDING', 0],
          ['APPROVAL_REQUIRED', 0],
        ],
        { approval },
      ),
      'approval 1 min 0 s (waiting)',
    ],
    [
      'an approval that was denied',
      aCall(
        [
          ['APPROVAL_REQUIRED', 0],
          ['DENIED', 5000],
        ],
        { approval: { ...approval, decision: 'deny', decided_by: 'operator' } },
      ),
      'approval 5 s (denied by operator)',
    ],
    [
      'an approval that expired',
      aCall(
        [
          ['APPROVAL_REQUIRED', 0],
          ['DENIED', 5000],
        ],
        { approval, error: { code: 'approval_expired' } as CallView['error'] },
      ),
      'approval 5 s (expired)',
    ],
  ])('%s', (_title, call, text) => {
    expect(waitsText(call, START + 60_000)).toBe(text);
  });
});
