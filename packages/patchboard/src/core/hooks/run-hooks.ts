import { isReason, reason, type Reason } from '@patchboard/wire';
import type { AgentHandle } from '../agent-handle.ts';
import { messageOf } from '../failures.ts';
import type { HookCall, HookOwner, OwnedHooks } from './hooks.ts';
import { jsonCopy } from '../json/json-copy.ts';
import { postHookChange } from './post-hook-change.ts';
import type { Outcome } from '../call/outcome.ts';
import type { Clock } from '../ports.ts';
import { withTimeLimit } from '../time-limit.ts';
import { isRecord } from '@patchboard/wire/json';

type Meta = Readonly<Record<string, unknown>>;

/** The combined result of all `preToolUse` hooks. */
export type PreVerdict =
  | { readonly kind: 'deny'; readonly reasons: readonly Reason[]; readonly toolResult: unknown }
  | {
      readonly kind: 'ask';
      readonly reasons: readonly Reason[];
      readonly meta: Meta | null;
      readonly args: unknown;
    }
  /** `by`: the owner with the most authority among the hooks that returned this. */
  | { readonly kind: 'result'; readonly result: unknown; readonly by: HookOwner; readonly args: unknown }
  | { readonly kind: 'allow'; readonly by: HookOwner; readonly args: unknown }
  | { readonly kind: 'none'; readonly args: unknown };

export interface HookRun {
  /** In the order in which they run. */
  readonly hooks: readonly OwnedHooks[];
  readonly call: HookCall;
  readonly agent: AgentHandle | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/**
 * Runs the hooks in order, each with the arguments as the hooks before it changed them, until one denies. A deny overrides
 * an ask, an ask overrides a result. A hook that throws or times out denies.
 */
export async function runPreHooks(run: HookRun): Promise<PreVerdict> {
  let { args } = run.call;
  let ask: { readonly reasons: readonly Reason[]; readonly meta: Meta | null } | null = null;
  let result: { readonly result: unknown } | null = null;
  // Hooks run in order of authority, so the last owner has the most.
  let by: HookOwner | null = null;
  for (const { owner, hooks } of run.hooks) {
    const call = withCopy(run.call, args);
    const returned = await runOne(run, () => hooks.preToolUse?.(call, run.agent));
    if (!returned.ok) return denied(returned.reason);
    const decision = returned.value as Record<string, unknown> | null | undefined;
    if (decision === undefined || decision === null) continue;
    if (decision['decision'] === 'deny') {
      return {
        kind: 'deny',
        reasons: reasonsIn(decision, decision['reason']) ?? [reason('hook_denied_call')],
        toolResult: jsonCopy(decision['toolResult']),
      };
    }
    if (decision['decision'] === 'ask') ask ??= approvalRequest(decision);
    else if (decision['decision'] === 'allow') by = owner;
    else if (Object.hasOwn(decision, 'result')) {
      // Otherwise a hook that looks up a cache would turn a miss into the result null.
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
 * Returns the result after the hooks changed it. A hook that throws, times out or returns a malformed change fails the
 * call, because a result that it would have withheld must not pass.
 */
export async function runPostHooks(
  run: HookRun,
  outcome: Outcome,
): Promise<Outcome | { readonly problem: Reason }> {
  if (outcome.kind !== 'ok') return outcome;
  let { value } = outcome;
  for (const { hooks } of run.hooks) {
    const call = withCopy(run.call, run.call.args);
    const returned = await runOne(run, () => hooks.postToolUse?.(call, value, run.agent));
    if (!returned.ok) return { problem: returned.reason };
    const change = postHookChange(returned.value);
    if (change.kind === 'malformed') return { problem: reason('text', { text: change.problem }) };
    if (change.kind === 'replace') value = change.value;
    else if (change.kind === 'update') value = updated(value, change.value);
  }
  return value === outcome.value ? outcome : { kind: 'ok', value };
}

/** A copy for each hook, so that mutating it has no effect: only a returned `{ args }` is validated and used. */
function withCopy(call: HookCall, args: unknown): HookCall {
  const shown = jsonCopy(args);
  return { ...call, args: shown, input: shown };
}

function updated(value: unknown, change: unknown): unknown {
  return isRecord(value) && isRecord(change) ? { ...value, ...change } : change;
}

type Returned =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: Reason };

async function runOne({ clock, timeoutMs }: HookRun, hook: () => unknown): Promise<Returned> {
  const call = async (): Promise<Returned> => {
    try {
      return { ok: true, value: await hook() };
    } catch (error) {
      return { ok: false, reason: reason('hook_failed', { error: messageOf(error) }) };
    }
  };
  return await withTimeLimit(clock, timeoutMs, call(), () => ({
    ok: false,
    reason: reason('hook_timed_out', { ms: timeoutMs }),
  }));
}

function approvalRequest(decision: Record<string, unknown>): {
  reasons: readonly Reason[];
  meta: Meta | null;
} {
  const meta = metaOf(decision['meta']);
  const reasons = reasonsIn(decision, decision['reason'] ?? meta?.['reason']);
  return { reasons: reasons ?? [reason('hook_asks')], meta };
}

/** Returns the hook's reason codes, else its text as a reason; null if it gave neither. */
function reasonsIn(decision: Record<string, unknown>, text: unknown): readonly Reason[] | null {
  const { reasons } = decision;
  if (Array.isArray(reasons) && reasons.length > 0 && reasons.every(isReason)) return reasons;
  return typeof text === 'string' && text !== '' ? [reason('text', { text })] : null;
}

export function denied(why: Reason): PreVerdict {
  return { kind: 'deny', reasons: [why], toolResult: undefined };
}

/** Stored with the call. A value that is not JSON is left out; the call still needs approval. */
function metaOf(given: unknown): Meta | null {
  const kept = jsonCopy(given);
  return isRecord(kept) ? kept : null;
}
