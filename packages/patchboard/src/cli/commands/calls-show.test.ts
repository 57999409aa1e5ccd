import type { CallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { callJson } from '../../transports/shared/views/call-view.ts';
import { failure, foreignText } from '../../core/failures.ts';
import type { Call } from '../../core/call/call.ts';
import { aCall } from '../../../test/support/a-call.ts';
import type { CliContext } from '../context.ts';
import { createOutput } from '../output.ts';
import { showCall } from './calls-show.ts';

const CREATED_AT = 1_700_000_000_000;

function shown(call: Partial<Call>, node: number | null = null): string {
  let out = '';
  const stdout = { write: (text: string) => (out += text) };
  const output = createOutput({ stdout, stderr: stdout, noColour: true });
  const view = JSON.parse(callJson(aCall({ createdAt: CREATED_AT, ...call }), node)) as CallView;
  showCall({ output } as unknown as CliContext, view, {});
  return out;
}

const approval = {
  digest: 'd',
  expiresAt: CREATED_AT + 60_000,
  reason: '',
  decision: null,
  decidedBy: null,
  decidedAt: null,
  note: null,
  originalArgsJson: null,
};

describe('a call on the terminal', () => {
  it('shows waiting time and running time separately', () => {
    const text = shown({
      state: { name: 'COMPLETED', resultJson: '1', resultDigest: null },
      timeline: [
        { state: 'PENDING', at: CREATED_AT },
        { state: 'EXECUTING', at: CREATED_AT + 9000, attempt: 1 },
        { state: 'COMPLETED', at: CREATED_AT + 9040 },
      ],
    });
    expect(text).toMatch(/^waited +9 s\nran +40 ms\ntotal +9.04 s$/m);
  });

  it('shows an approval request that expired without a decision', () => {
    const error = failure(
      'approval_expired',
      foreignText('the approval request expired before an operator decided'),
    );
    const text = shown({
      approval,
      state: { name: 'DENIED', error, resultDigest: null },
      timeline: [
        { state: 'PENDING', at: CREATED_AT },
        { state: 'APPROVAL_REQUIRED', at: CREATED_AT },
        { state: 'DENIED', at: CREATED_AT + 60_000, code: 'approval_expired' },
      ],
    });
    expect(text).toContain('DENIED (expired)');
    expect(text).toMatch(/^approval +expired at 2023-11-14T22:14:20.000Z without a decision$/m);
  });

  it('shows the node of the call, if there is one', () => {
    expect(shown({}, 3)).toMatch(/^node +3$/m);
    expect(shown({})).not.toMatch(/^node/m);
  });

  it('shows until when an approval request waits', () => {
    const state = { name: 'APPROVAL_REQUIRED', deadlineAt: CREATED_AT + 60_000 } as const;
    expect(shown({ approval, state })).toMatch(/^approval +waiting until 2023-11-14T22:14:20.000Z$/m);
  });
});
