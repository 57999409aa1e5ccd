import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { approvalDigest } from './approval-digest.ts';
import type { Approval } from './call.ts';

const OLD = 'e2f4';
const waiting: Approval = {
  digest: OLD,
  expiresAt: 0,
  reason: '',
  decision: null,
  decidedBy: null,
  decidedAt: null,
  note: null,
  originalArgsJson: null,
};

describe('the digest of what an operator is shown', () => {
  it('differs for two calls that differ in nothing but their ids', () => {
    const [one, other] = [aCall({ id: 'tc_1' }), aCall({ id: 'tc_2' })];
    expect(approvalDigest(nodeDigest, one)).toMatch(/^v2:[0-9a-f]{64}$/);
    expect(approvalDigest(nodeDigest, one)).not.toBe(approvalDigest(nodeDigest, other));
  });

  it('keeps the version that the call waits with, also for edited arguments', () => {
    const old = { ...aCall({ id: 'tc_1' }), approval: waiting };
    const twin = { ...aCall({ id: 'tc_2' }), approval: waiting };
    expect(approvalDigest(nodeDigest, old)).toMatch(/^[0-9a-f]{64}$/);
    expect(approvalDigest(nodeDigest, old)).toBe(approvalDigest(nodeDigest, twin));
    const edited = { ...old, argsJson: '{"edited":true}' };
    expect(approvalDigest(nodeDigest, edited)).toMatch(/^[0-9a-f]{64}$/);
    expect(approvalDigest(nodeDigest, edited)).not.toBe(approvalDigest(nodeDigest, old));
  });
});
