import { reason } from '@patchboard/wire';
import { explain, reasonsOf } from '../explanation.ts';
import { denied, runPreHooks, type PreVerdict } from '../hooks/run-hooks.ts';
import { failure, messageOf, problemOf, type Failure } from '../failures.ts';
import type { Decision, Guard } from '../access/guard.ts';
import { hookCall, hooksOf, type HookOwner, type Hooks, type OwnedHooks } from '../hooks/hooks.ts';
import type { Limits } from '../limits.ts';
import type { InProcessCaller } from '../call/live-call.ts';
import { strictness } from '../access/policy/strictest.ts';
import { withContractChange } from '../access/contract-change.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { audienceDenial } from '../tools/tool-audience.ts';

export interface AdmissionParts {
  readonly guard: Guard;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly hooks: readonly Hooks[];
}

export interface AdmissionRequest {
  readonly id: string;
  readonly principal: Principal;
  readonly tool: RegisteredTool;
  readonly runId: string;
  readonly args: unknown;
  readonly caller: InProcessCaller;
}

/** The combined decision of policy, hooks and response cache on a call. */
export interface Admission {
  readonly decision: Decision;
  /** The arguments after the hooks changed them; they are valid against the schema. */
  readonly args: unknown;
  /** The result, if a hook or the response cache supplied it: the tool does not run. */
  readonly suppliedResult: { readonly result: unknown } | null;
  /** The result that a denying hook gives to the model in place of the error. */
  readonly toolResult: unknown;
  /** The key under which the response cache stores the result. */
  readonly cacheKey?: string;
  /** Age of the supplied result, if it came from the response cache. */
  readonly cachedAgeMs?: number;
}

/**
 * Evaluates the policy, then the hooks. Hooks can make the decision stricter, change the arguments or supply a result,
 * never override a deny.
 */
export function admit(
  parts: AdmissionParts,
  request: AdmissionRequest,
): Admission | Promise<Admission | Failure> {
  const decided = callGuard(parts.guard, request);
  // Stays synchronous where the guard is: a promise would cost more than the decision.
  return decided instanceof Promise
    ? decided.then((decision) => admitBy(decision, parts, request))
    : admitBy(decided, parts, request);
}

/**
 * The admission of a call whose tool the principal may never call: always a deny, even if the guard admits it. Calls no
 * hooks.
 */
export function deny(
  { guard }: Pick<AdmissionParts, 'guard'>,
  request: AdmissionRequest,
): MaybePromise<Admission> {
  const { principal, tool, args } = request;
  return andThen(callGuard(guard, request), (decided) => {
    const decision = decided.effect === 'deny' ? decided : (audienceDenial(tool, principal) ?? NOT_LISTED);
    return { decision, args, suppliedResult: null, toolResult: undefined };
  });
}

const NOT_LISTED: Decision = {
  effect: 'deny',
  rule: 'policy',
  ...explain(reason('tool_not_listed')),
  policyVersion: 0,
};

export function denialFailure(decision: Decision, extra: Partial<Failure> = {}): Failure {
  const code = decision.rule === 'guard' || decision.rule === 'hook' ? 'hook_denied' : 'permission_denied';
  return failure(code, reason('denied', { reasons: reasonsOf(decision) }), extra);
}

function admitBy(
  decision: Decision,
  parts: AdmissionParts,
  request: AdmissionRequest,
): Admission | Promise<Admission | Failure> {
  const { tool, args, caller } = request;
  const byPolicy: Admission = { decision, args, suppliedResult: null, toolResult: undefined };
  const hooks = hooksOf('preToolUse', tool, caller.hooks, parts.hooks);
  return decision.effect === 'deny' || hooks.length === 0
    ? byPolicy
    : callHooks(parts, request, byPolicy, hooks);
}

async function callHooks(
  parts: AdmissionParts,
  request: AdmissionRequest,
  byPolicy: Admission,
  hooks: readonly OwnedHooks[],
): Promise<Admission | Failure> {
  const { principal, tool, runId, args, caller } = request;
  const { tenant, agentId } = principal;
  const call = hookCall({ id: request.id, toolName: tool.name, runId, agentId, tenant }, tool, args);
  const { clock, limits } = parts;
  const verdict = await runPreHooks({
    hooks,
    call,
    agent: caller.agent,
    clock,
    timeoutMs: limits.hookTimeoutMs,
  });
  const combined = combine(byPolicy, verdict);
  if (combined.args === args) return combined;
  const issues = tool.validateInput(combined.args);
  // No schema refuses what JSON cannot represent if it allows everything.
  if (issues === null && combined.args === undefined)
    return combine(byPolicy, denied(reason('hook_not_understood')));
  if (issues === null)
    return combine(await evaluateAgain(parts.guard, request, byPolicy, combined.args), verdict);
  const [first] = issues;
  const problem = first === undefined ? [] : problemOf(first);
  const why = reason('hook_input_issue', { path: first?.path ?? '', problem });
  return failure('input_invalid', why, { issues });
}

/**
 * Evaluates the policy for the arguments that a hook changed, because rules may depend on them. The stricter decision
 * counts.
 */
async function evaluateAgain(
  guard: Guard,
  request: AdmissionRequest,
  byPolicy: Admission,
  args: unknown,
): Promise<Admission> {
  const decision = await callGuard(guard, { ...request, args });
  return strictness(decision) > strictness(byPolicy.decision) ? { ...byPolicy, decision } : byPolicy;
}

/**
 * Combines policy and hooks: a deny overrides an ask, an ask overrides a supplied result. A policy of mode `custom` accepts
 * the allow of the hooks named by `opensTo`.
 */
function combine(byPolicy: Admission, verdict: PreVerdict): Admission {
  const { decision } = byPolicy;
  const { policyVersion } = decision;
  if (decision.effect === 'deny' && verdict.kind !== 'deny') return { ...byPolicy, args: verdict.args };
  switch (verdict.kind) {
    case 'deny': {
      const denied: Decision = {
        effect: 'deny',
        rule: 'hook',
        ...explain(...verdict.reasons),
        policyVersion,
      };
      return { ...byPolicy, decision: denied, toolResult: verdict.toolResult };
    }
    case 'ask': {
      const asked: Decision = { effect: 'ask', rule: 'hook', ...explain(...verdict.reasons), policyVersion };
      // The operator sees both reasons: the policy's alone would hide the hook's finding.
      const both = explain(...reasonsOf(decision), ...verdict.reasons);
      const merged = decision.effect === 'ask' ? { ...decision, ...both } : asked;
      // What the hook adds does not hide a changed contract.
      const withMeta =
        verdict.meta === null ? merged : { ...merged, meta: { ...verdict.meta, ...merged.meta } };
      return { ...byPolicy, decision: withMeta, args: verdict.args };
    }
    case 'result': {
      const needsApproval = decision.effect === 'ask' && !mayOpen(verdict.by, decision);
      if (needsApproval) return { ...byPolicy, args: verdict.args };
      const supplied: Decision = {
        effect: 'allow',
        rule: 'hook',
        ...explain(reason('hook_had_result')),
        policyVersion,
      };
      const suppliedResult = { result: verdict.result };
      return { ...byPolicy, decision: supplied, args: verdict.args, suppliedResult };
    }
    case 'allow': {
      const why = explain(reason('hook_allowed'));
      const allowed: Decision = { effect: 'allow', rule: 'hook', ...why, policyVersion };
      const final = mayOpen(verdict.by, decision) ? allowed : decision;
      return { ...byPolicy, decision: final, args: verdict.args };
    }
    case 'none':
      return { ...byPolicy, args: verdict.args };
  }
}

/**
 * Whether hooks of this owner may allow what a policy of mode `custom` left undecided: the board's any, an agent's only
 * the agent's own, a tool's none.
 */
function mayOpen(owner: HookOwner, { opensTo }: Decision): boolean {
  return opensTo !== undefined && (owner === 'board' || owner === opensTo);
}

/** Fails closed: a guard that throws denies. */
function callGuard(
  guard: Guard,
  { principal, tool, args, caller }: AdmissionRequest,
): Decision | Promise<Decision> {
  try {
    const decided = guard.admit({ principal, tool, args, permissions: caller.permissions ?? [] });
    if (decided instanceof Promise)
      return decided.then((decision) => withContractChange(decision, tool), denialOf);
    return withContractChange(decided, tool);
  } catch (error) {
    return denialOf(error);
  }
}

function denialOf(error: unknown): Decision {
  const why = explain(reason('decision_failed', { error: messageOf(error) }));
  return { effect: 'deny', rule: 'guard', ...why, policyVersion: 0 };
}
