import { reasonText } from '@patchboard/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { runPostHooks, runPreHooks, type HookRun } from './run-hooks.ts';
import type { HookDecision, Hooks } from './hooks.ts';

function aRun(hooks: readonly Hooks[], clock = new FakeClock()): HookRun {
  const args = { n: 0 };
  const who = { runId: 'r', agentId: 'a', tenant: 'default' };
  const call = { id: 'tc_1', name: 't', args, input: args, ...who, annotations: {}, metadata: {} };
  const owned = hooks.map((one) => ({ owner: 'board', hooks: one }) as const);
  return { hooks: owned, call, agent: undefined, clock, timeoutMs: 1000 };
}

const saying = (decision: HookDecision): Hooks => ({ preToolUse: () => decision });

describe('runPreHooks', () => {
  it('lets any deny beat everything, any ask beat a result, and the first result stand', async () => {
    const decision = fc.constantFrom<HookDecision>(
      undefined,
      { decision: 'deny', reason: 'no' },
      { decision: 'ask' },
      { decision: 'allow' },
      { result: 1 },
      { result: 2 },
      { args: { n: 1 } },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(decision, { maxLength: 6 }), async (decisions) => {
        const verdict = await runPreHooks(aRun(decisions.map(saying)));
        const said = (what: (one: Record<string, unknown>) => boolean): boolean =>
          decisions.some((one) => one !== undefined && what(one as Record<string, unknown>));
        const results = decisions.filter((one) => one !== undefined && 'result' in one);
        if (said((one) => one['decision'] === 'deny')) expect(verdict.kind).toBe('deny');
        else if (said((one) => one['decision'] === 'ask')) expect(verdict.kind).toBe('ask');
        else if (results.length > 0) expect(verdict).toMatchObject({ kind: 'result', ...results[0] });
        else expect(verdict.kind).toBe(said((one) => one['decision'] === 'allow') ? 'allow' : 'none');
        if (verdict.kind !== 'deny') {
          expect(verdict.args).toEqual(said((one) => 'args' in one) ? { n: 1 } : { n: 0 });
        }
      }),
    );
  });

  it('shows each hook the arguments as the one before left them, under both names', async () => {
    const seen: unknown[] = [];
    const next: Hooks = {
      preToolUse: (call) => {
        seen.push(call.args);
        expect(call.input).toBe(call.args);
        return { args: { n: (call.args as { n: number }).n + 1 } };
      },
    };
    expect(await runPreHooks(aRun([next, next, next]))).toEqual({ kind: 'none', args: { n: 3 } });
    expect(seen).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  it('lets no hook write into the arguments behind the back of the others', async () => {
    const writing: Hooks = { preToolUse: ({ args }) => void ((args as { n: unknown }).n = 'other') };
    const seen: unknown[] = [];
    const looking: Hooks = { preToolUse: ({ args }) => void seen.push(args) };
    const run = aRun([writing, looking]);
    expect(await runPreHooks(run)).toEqual({ kind: 'none', args: { n: 0 } });
    expect(seen).toEqual([{ n: 0 }]);
    expect(run.call.args).toEqual({ n: 0 });
  });

  it('takes a hook that throws, hangs or babbles for a no', async () => {
    const clock = new FakeClock();
    const failing: Hooks = { preToolUse: () => Promise.reject(new Error('boom')) };
    expect(await runPreHooks(aRun([saying({ result: 1 }), failing]))).toMatchObject({
      kind: 'deny',
      reasons: [{ code: 'hook_failed', params: { error: 'boom' } }],
    });
    const hanging = runPreHooks(aRun([{ preToolUse: () => new Promise(() => {}) }], clock));
    await clock.advance(1000);
    expect(await hanging).toMatchObject({
      kind: 'deny',
      reasons: [{ code: 'hook_timed_out', params: { ms: 1000 } }],
    });
    const nothing: Hooks = { preToolUse: () => ({ result: undefined }) };
    expect(await runPreHooks(aRun([nothing]))).toMatchObject({
      kind: 'deny',
      reasons: [{ code: 'hook_result_undefined', params: {} }],
    });
    const babbling = { preToolUse: () => ({ decision: 'maybe' }) } as unknown as Hooks;
    expect(await runPreHooks(aRun([babbling]))).toMatchObject({ kind: 'deny' });
  });

  it('takes the codes of a hook before its words, and its words before a code that has no sentence', async () => {
    const coded = { code: 'command_publishes', params: { program: 'npm' } };
    const words = { decision: 'ask', reason: 'look twice' } as const;
    const reasonsOf = async (decision: HookDecision): Promise<unknown> => {
      const verdict = await runPreHooks(aRun([saying(decision)]));
      return 'reasons' in verdict ? verdict.reasons : undefined;
    };
    expect(await reasonsOf({ ...words, reasons: [coded] })).toEqual([coded]);
    const spoken = [{ code: 'text', params: { text: 'look twice' } }];
    expect(await reasonsOf(words)).toEqual(spoken);
    expect(await reasonsOf({ ...words, reasons: [{ code: 'moon_is_full', params: {} }] })).toEqual(spoken);
    expect(await reasonsOf({ decision: 'ask' })).toEqual([{ code: 'hook_asks', params: {} }]);
  });
});

describe('runPostHooks', () => {
  const after = (change: unknown): Hooks => ({ postToolUse: () => change as never });

  it.each([
    ['keeps', undefined, { a: 1 }, { a: 1 }],
    ['merges into an object', { update: { result: { b: 2 } } }, { a: 1 }, { a: 1, b: 2 }],
    ['replaces what is no object', { update: { result: 'short' } }, 'long', 'short'],
    ['replaces an array', { update: { result: [2] } }, [1], [2]],
    ['replaces all', { replace: { content: 'x' } }, { a: 1 }, 'x'],
    ['merges content as it does a result', { update: { content: { b: 2 } } }, { a: 1 }, { a: 1, b: 2 }],
    ['takes content in place of what is no object', { update: { content: 'short' } }, 'long', 'short'],
    ['takes null for a value', { replace: { content: null } }, { a: 1 }, null],
  ])('%s', async (_title, change, value, expected) => {
    expect(await runPostHooks(aRun([after(change)]), { kind: 'ok', value })).toEqual({
      kind: 'ok',
      value: expected,
    });
  });

  it.each([
    ['an update of nothing', { update: {} }, 'update must have one of result, content'],
    ['an update to undefined', { update: { result: undefined } }, 'update.result must not be undefined'],
    ['an update that says two things', { update: { result: 1, content: 2 } }, 'update must have one of'],
    ['a misspelt update', { update: { resutl: 1 } }, 'update.resutl is not known; did you mean result?'],
    ['an update that is no object', { update: 'short' }, 'update must be an object'],
    ['a replacement by nothing', { replace: {} }, 'replace must have content'],
    ['a replacement by a result', { replace: { result: 1 } }, 'replace.result is not known'],
    [
      'a replacement by undefined',
      { replace: { content: undefined } },
      'replace.content must not be undefined',
    ],
    ['both at once', { update: { result: 1 }, replace: { content: 2 } }, 'must have one of update, replace'],
    ['neither', {}, 'must have one of update, replace'],
    ['a text', 'short', 'must be an object'],
    ['a list', [1], 'must be an object'],
  ])('refuses %s, and says what is wrong with it', async (_title, change, problem) => {
    const reviewed = await runPostHooks(aRun([after(change)]), { kind: 'ok', value: { a: 1 } });
    const words = 'problem' in reviewed ? reasonText(reviewed.problem) : '';
    expect(words).toContain('postToolUse returned');
    expect(words).toContain(problem);
  });

  it('leaves failures alone and stops what it cannot review', async () => {
    const failing: Hooks = { postToolUse: () => Promise.reject(new Error('boom')) };
    expect(await runPostHooks(aRun([failing]), { kind: 'ok', value: 1 })).toEqual({
      problem: { code: 'hook_failed', params: { error: 'boom' } },
    });
  });
});
