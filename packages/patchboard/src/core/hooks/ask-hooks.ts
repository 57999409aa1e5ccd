import { isReason, reason, type Reason } from '@patchboard/wire';
import type { AgentHandle } from '../agent-handle.ts';
import { messageOf } from '../failures.ts';
import type { HookCall, HookOwner, OwnedHooks } from './hooks.ts';
import { jsonCopy } from '../json/json-copy.ts';
import { postHookChange } from './post-hook-change.ts';
import type { Outcome } from '../call/outcome.ts';
import type { Clock } from '../ports.ts';
import { withTimeLimit } from '../time-limit.ts';
import { isRecord } from '../json/is-record.ts';

type Meta = Readonly<Record<string, unknown>>;

/** What all hooks together say. */
export type PreVerdict =
  | { readonly kind: 'deny'; readonly reasons: readonly Reason[]; readonly toolResult: unknown }
  | {
      readonly kind: 'ask';
      readonly reasons: readonly Reason[];
      readonly meta: Meta | null;
      readonly args: unknown;
    }
  /** `by`: the highest of those who said so. */
  | { readonly kind: 'result'; readonly result: unknown; readonly by: HookOwner; readonly args: unknown }
  | { readonly kind: 'allow'; readonly by: HookOwner; readonly args: unknown }
  | { readonly kind: 'none'; readonly args: unknown };

export interface HookRun {
  /** In order. */
  readonly hooks: readonly OwnedHooks[];
  readonly call: HookCall;
  readonly agent: AgentHandle | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/**
 * Each hook is asked, with the arguments as those before it left them, until one denies. A deny beats any earlier result
 * or ask, any ask beats a result. A hook that throws or takes too long has denied.
 */
export async function runPreHooks(run: HookRun): Promise<PreVerdict> {
  let { args } = run.call;
  let ask: { readonly reasons: readonly Reason[]; readonly meta: Meta | null } | null = null;
  let result: { readonly result: unknown } | null = null;
  // They are asked upwards: the last who says so is the highest.
  let by: HookOwner | null = null;
  for (const { owner, hooks } of run.hooks) {
    // A copy for each: what a hook writes into it reaches nobody, `{args}` is the way that is checked.
    const shown = jsonCopy(args);
    const call = { ...run.call, args: shown, input: shown };
    const said = await askOne(run, () => hooks.preToolUse?.(call, run.agent));
    if (!said.ok) return denied(said.reason);
    const decision = said.value as Record<string, unknown> | null | undefined;
    if (decision === undefined || decision === null) continue;
    if (decision['decision'] === 'deny') {
      return {
        kind: 'deny',
        reasons: reasonsIn(decision, decision['reason']) ?? [reason('hook_denied_call')],
        toolResult: jsonCopy(decision['toolResult']),
      };
    }
    if (decision['decision'] === 'ask') ask ??= question(decision);
    else if (decision['decision'] === 'allow') by = owner;
    else if (Object.hasOwn(decision, 'result')) {
      // A cache that misses would otherwise turn into a result of null.
      if (decision['result'] === undefined) return denied(reason('hook_result_undefined'));
      result ??= { result: decision['result'] };
      by = owner;
    } else if (Object.hasOwn(decision, 'args')) args = jsonCopy(decision['args']);
    else return denied(reason('hook_not_understood'));
  }
  if (ask !== null) return { kind: 'ask', ...ask, args };
  if (by === null) return { kind: 'none', args };
  return result === null ? { kind: 'allow', by, args } : { kind: 'result', result: result.result, by, args };
}

/**
 * The result as the hooks leave it. One that throws, takes too long or returns a malformed change fails the call: what it
 * guards must not pass.
 */
export async function runPostHooks(
  run: HookRun,
  outcome: Outcome,
): Promise<Outcome | { readonly problem: Reason }> {
  if (outcome.kind !== 'ok') return outcome;
  let { value } = outcome;
  for (const { hooks } of run.hooks) {
    const said = await askOne(run, () => hooks.postToolUse?.(run.call, value, run.agent));
    if (!said.ok) return { problem: said.reason };
    const change = postHookChange(said.value);
    if (change.kind === 'malformed') return { problem: reason('text', { text: change.problem }) };
    if (change.kind === 'replace') value = change.value;
    else if (change.kind === 'update') value = updated(value, change.value);
  }
  return value === outcome.value ? outcome : { kind: 'ok', value };
}

function updated(value: unknown, change: unknown): unknown {
  return isRecord(value) && isRecord(change) ? { ...value, ...change } : change;
}

type Said = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: Reason };

async function askOne({ clock, timeoutMs }: HookRun, hook: () => unknown): Promise<Said> {
  const answer = async (): Promise<Said> => {
    try {
      return { ok: true, value: await hook() };
    } catch (error) {
      return { ok: false, reason: reason('hook_failed', { error: messageOf(error) }) };
    }
  };
  return await withTimeLimit(clock, timeoutMs, answer(), () => ({
    ok: false,
    reason: reason('hook_timed_out', { ms: timeoutMs }),
  }));
}

function question(decision: Record<string, unknown>): { reasons: readonly Reason[]; meta: Meta | null } {
  const meta = metaOf(decision['meta']);
  const reasons = reasonsIn(decision, decision['reason'] ?? meta?.['reason']);
  return { reasons: reasons ?? [reason('hook_asks')], meta };
}

/** Codes of ours where the hook gave them, else the words it gave; null: it gave neither. */
function reasonsIn(decision: Record<string, unknown>, words: unknown): readonly Reason[] | null {
  const { reasons } = decision;
  if (Array.isArray(reasons) && reasons.length > 0 && reasons.every(isReason)) return reasons;
  return typeof words === 'string' && words !== '' ? [reason('text', { text: words })] : null;
}

function denied(why: Reason): PreVerdict {
  return { kind: 'deny', reasons: [why], toolResult: undefined };
}

/** Kept with the call: what JSON cannot hold is left out, the question stays. */
function metaOf(given: unknown): Meta | null {
  const kept = jsonCopy(given);
  return isRecord(kept) ? kept : null;
}
