import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANNOTATIONS_RULE, type Author, type TraceStep } from './decide.ts';
import { strictest } from './strictest.ts';

const aVerdict = (effect: TraceStep['effect'], rule: string, opensTo?: Author): TraceStep => ({
  effect,
  rule,
  reason: '',
  ...(opensTo === undefined ? {} : { opensTo }),
});

describe('several policies', () => {
  it('leave the decision to annotations only if none of them matches', () => {
    expect(strictest(aVerdict('ask', ANNOTATIONS_RULE), [aVerdict('allow', 'permission.mode')]).effect).toBe(
      'allow',
    );
    expect(strictest(aVerdict('allow', 'default.mode'), [aVerdict('ask', ANNOTATIONS_RULE)]).effect).toBe(
      'allow',
    );
    expect(strictest(aVerdict('ask', ANNOTATIONS_RULE), [aVerdict('allow', ANNOTATIONS_RULE)]).effect).toBe(
      'ask',
    );
  });

  it('rank an ask that hooks may override below one that they may not', () => {
    const open = aVerdict('ask', 'permission.mode', 'agent');
    expect(strictest(aVerdict('ask', 'default.mode'), [open]).opensTo).toBeUndefined();
    expect(strictest(aVerdict('allow', 'default.mode'), [open]).opensTo).toBe('agent');
    expect(strictest(aVerdict('ask', 'default.mode', 'board'), [open]).opensTo).toBe('board');
  });

  it('never allow more than any of them that matches', () => {
    const rank = { allow: 0, ask: 1, deny: 2 };
    const step = fc.record({
      effect: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
      rule: fc.constantFrom(ANNOTATIONS_RULE, 'default.mode'),
      reason: fc.constant(''),
    });
    fc.assert(
      fc.property(step, fc.array(step, { maxLength: 4 }), (first, others) => {
        const verdict = strictest<TraceStep>(first, others);
        for (const one of [first, ...others])
          if (one.rule !== ANNOTATIONS_RULE)
            expect(rank[verdict.effect]).toBeGreaterThanOrEqual(rank[one.effect]);
      }),
    );
  });
});
