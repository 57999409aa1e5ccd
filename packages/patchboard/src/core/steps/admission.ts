import { reason } from '@patchboard/wire';
import { because, reasonsOf } from '../because.ts';
import { runPreHooks, type PreVerdict } from '../hooks/ask-hooks.ts';
import { failure, messageOf, problemOf, type Failure } from '../failures.ts';
import type { Decision, Guard } from '../access/guard.ts';
import { hookCall, hooksOf, type HookOwner, type Hooks, type OwnedHooks } from '../hooks/hooks.ts';
import type { Limits } from '../limits.ts';
import type { InProcessCaller } from '../call/live-call.ts';
import { strictness } from '../access/policy/strictest.ts';
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

export interface AdmissionQuestion {
  readonly id: string;
  readonly principal: Principal;
  readonly tool: RegisteredTool;
  readonly runId: string;
  readonly args: unknown;
  readonly caller: InProcessCaller;
}

/** What policy and hooks together make of a call. */
export interface Admission {
  readonly decision: Decision;
  /** As the hooks left them; they fit the schema. */
  readonly args: unknown;
  /** A hook had the result: nothing needs to run. */
  readonly atHand: { readonly result: unknown } | null;
  /** What a hook that denied wants the model to see. */
  readonly toolResult: unknown;
  /** Under what the result may be kept, to be given again. */
  readonly cacheKey?: string;
  /** The result at hand is an earlier one, so old. */
  readonly cachedAgeMs?: number;
}

/** Policy first, then hooks: they can make it stricter, change the arguments or answer themselves, never lift a deny. */
export function admit(
  parts: AdmissionParts,
  question: AdmissionQuestion,
): Admission | Promise<Admission | Failure> {
  const decided = askGuard(parts.guard, question);
  // A promise for what is known at once would cost more than knowing it.
  return decided instanceof Promise
    ? decided.then((decision) => admitBy(decision, parts, question))
    : admitBy(decided, parts, question);
}

/** Of a tool that the principal may never call: denied, also by a guard that lists and admits differently. Calls no hooks. */
export function deny(
  { guard }: Pick<AdmissionParts, 'guard'>,
  question: AdmissionQuestion,
): MaybePromise<Admission> {
  const { principal, tool, args } = question;
  return andThen(askGuard(guard, question), (decided) => {
    const decision = decided.effect === 'deny' ? decided : (audienceDenial(tool, principal) ?? NOT_LISTED);
    return { decision, args, atHand: null, toolResult: undefined };
  });
}

const NOT_LISTED: Decision = {
  effect: 'deny',
  rule: 'policy',
  ...because(reason('tool_not_listed')),
  policyVersion: 0,
};

export function denialFailure(decision: Decision, extra: Partial<Failure> = {}): Failure {
  const code = decision.rule === 'guard' || decision.rule === 'hook' ? 'hook_denied' : 'permission_denied';
  return failure(code, reason('denied', { reasons: reasonsOf(decision) }), extra);
}

function admitBy(
  decision: Decision,
  parts: AdmissionParts,
  question: AdmissionQuestion,
): Admission | Promise<Admission | Failure> {
  const { tool, args, caller } = question;
  const plain: Admission = { decision, args, atHand: null, toolResult: undefined };
  const hooks = hooksOf('preToolUse', tool, caller.hooks, parts.hooks);
  return decision.effect === 'deny' || hooks.length === 0 ? plain : askHooks(parts, question, plain, hooks);
}

async function askHooks(
  parts: AdmissionParts,
  question: AdmissionQuestion,
  plain: Admission,
  hooks: readonly OwnedHooks[],
): Promise<Admission | Failure> {
  const { principal, tool, runId, args, caller } = question;
  const { tenant, agentId } = principal;
  const call = hookCall({ id: question.id, toolName: tool.name, runId, agentId, tenant }, tool, args);
  const { clock, limits } = parts;
  const verdict = await runPreHooks({
    hooks,
    call,
    agent: caller.agent,
    clock,
    timeoutMs: limits.hookTimeoutMs,
  });
  const settled = combine(plain, verdict);
  if (settled.args === args) return settled;
  const issues = tool.validateInput(settled.args);
  if (issues === null) return combine(await judgedAgain(parts.guard, question, plain, settled.args), verdict);
  const [first] = issues;
  const problem = first === undefined ? [] : problemOf(first);
  const why = reason('hook_input_issue', { path: first?.path ?? '', problem });
  return failure('input_invalid', why, { issues });
}

/** Policy may look at the arguments: what a hook makes of them must pass it too. The stricter word counts. */
async function judgedAgain(
  guard: Guard,
  question: AdmissionQuestion,
  plain: Admission,
  args: unknown,
): Promise<Admission> {
  const decision = await askGuard(guard, { ...question, args });
  return strictness(decision) > strictness(plain.decision) ? { ...plain, decision } : plain;
}

/** Any deny beats any ask, any ask beats a result; a policy that leaves it to hooks takes the allow of those it names. */
function combine(plain: Admission, verdict: PreVerdict): Admission {
  const { decision } = plain;
  const { policyVersion } = decision;
  if (decision.effect === 'deny' && verdict.kind !== 'deny') return { ...plain, args: verdict.args };
  switch (verdict.kind) {
    case 'deny': {
      const denied: Decision = {
        effect: 'deny',
        rule: 'hook',
        ...because(...verdict.reasons),
        policyVersion,
      };
      return { ...plain, decision: denied, toolResult: verdict.toolResult };
    }
    case 'ask': {
      const asked: Decision = { effect: 'ask', rule: 'hook', ...because(...verdict.reasons), policyVersion };
      // The operator reads both reasons: that of the policy would hide what the hook found.
      const both = because(...reasonsOf(decision), ...verdict.reasons);
      const stands = decision.effect === 'ask' ? { ...decision, ...both } : asked;
      const told = verdict.meta === null ? stands : { ...stands, meta: verdict.meta };
      return { ...plain, decision: told, args: verdict.args };
    }
    case 'result': {
      const stands = decision.effect === 'ask' && !mayOpen(verdict.by, decision);
      if (stands) return { ...plain, args: verdict.args };
      const answered: Decision = {
        effect: 'allow',
        rule: 'hook',
        ...because(reason('hook_had_result')),
        policyVersion,
      };
      return { ...plain, decision: answered, args: verdict.args, atHand: { result: verdict.result } };
    }
    case 'allow': {
      const why = because(reason('hook_allowed'));
      const allowed: Decision = { effect: 'allow', rule: 'hook', ...why, policyVersion };
      return { ...plain, decision: mayOpen(verdict.by, decision) ? allowed : decision, args: verdict.args };
    }
    case 'none':
      return { ...plain, args: verdict.args };
  }
}

/** The board's hooks open any policy of mode custom, an agent's only the agent's own, a tool's none. */
function mayOpen(owner: HookOwner, { opensTo }: Decision): boolean {
  return opensTo !== undefined && (owner === 'board' || owner === opensTo);
}

/** Fails closed: a guard that throws has said no. */
function askGuard(
  guard: Guard,
  { principal, tool, args, caller }: AdmissionQuestion,
): Decision | Promise<Decision> {
  try {
    const decided = guard.admit({ principal, tool, args, permissions: caller.permissions ?? [] });
    return decided instanceof Promise ? decided.catch(denialOf) : decided;
  } catch (error) {
    return denialOf(error);
  }
}

function denialOf(error: unknown): Decision {
  const why = because(reason('decision_failed', { error: messageOf(error) }));
  return { effect: 'deny', rule: 'guard', ...why, policyVersion: 0 };
}
