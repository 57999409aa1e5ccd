import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a call was allowed, asked about or denied. */
export interface DecisionReasons {
  /** Words of others: the author of a rule, a hook or a tool. They are shown as they are in every language. */
  readonly text: { readonly text: string };
  readonly no_rule: NoParams;
  readonly tool_switched_off: { readonly tool: string };
  readonly tool_not_switched_on: { readonly tool: string };
  readonly pattern_matched: { readonly pattern: string };
  readonly rule_matched: NoParams;
  readonly policy_mode: { readonly mode: string };
  readonly custom_mode_undecided: NoParams;
  readonly tool_destructive: NoParams;
  readonly tool_requires_approval: NoParams;
  readonly tool_not_risky: NoParams;
  readonly policy_unreadable: NoParams;
  readonly contract_changed: { readonly since: string };
  readonly granted: { readonly by: string };
  readonly tool_not_listed: NoParams;
  readonly tool_for_operators: { readonly tool: string };
  readonly tool_needs_credential: { readonly tool: string };
  readonly decision_failed: { readonly error: string };
  readonly hook_asks: NoParams;
  readonly hook_allowed: NoParams;
  readonly hook_had_result: NoParams;
  readonly hook_denied_call: NoParams;
  readonly hook_failed: { readonly error: string };
  readonly hook_timed_out: { readonly ms: number };
  readonly hook_result_undefined: NoParams;
  readonly hook_not_understood: NoParams;
  readonly result_cached: { readonly call: string; readonly age_ms: number; readonly rule: string };
  readonly result_review_failed: { readonly problem: readonly ReasonView[] };
  readonly denied: { readonly reasons: readonly ReasonView[] };
}

export const DECISION_REASONS: Sentences<DecisionReasons> = {
  text: ({ text }) => text,
  no_rule: () => 'no rule applies',
  tool_switched_off: ({ tool }) => `${tool} is switched off`,
  tool_not_switched_on: ({ tool }) => `${tool} is not switched on`,
  pattern_matched: ({ pattern }) => `the pattern ${pattern} matches the tool`,
  rule_matched: () => 'a policy rule matches',
  policy_mode: ({ mode }) => `mode is ${mode}`,
  custom_mode_undecided: () => 'mode is custom, and no hook decided',
  tool_destructive: () => 'the tool is destructive',
  tool_requires_approval: () => 'the tool requires approval',
  tool_not_risky: () => 'the tool is not marked as risky',
  policy_unreadable: () => 'the policy cannot be read',
  contract_changed: ({ since }) =>
    `the upstream changed the contract at ${since}, and no operator accepted it`,
  granted: ({ by }) => `a grant by ${by} allows it`,
  tool_not_listed: () => 'this agent may not call the tool',
  tool_for_operators: ({ tool }) => `${tool} is for operators, not for an AI`,
  tool_needs_credential: ({ tool }) => `${tool} requires an authenticated caller`,
  decision_failed: ({ error }) => `the decision failed: ${error}`,
  hook_asks: () => 'a hook requires approval',
  hook_allowed: () => 'a hook allowed it',
  hook_had_result: () => 'a hook returned the result',
  hook_denied_call: () => 'Denied by hook',
  hook_failed: ({ error }) => `a hook failed: ${error}`,
  hook_timed_out: ({ ms }) => `a hook took more than ${ms} ms`,
  hook_result_undefined: () =>
    'preToolUse returned {result} and result must not be undefined; null is a value',
  hook_not_understood: () => 'a hook returned a value that is not valid',
  result_cached: ({ call, age_ms: age, rule }) =>
    `the result of ${call} was ${age} ms old (allowed by ${rule})`,
  result_review_failed: ({ problem }) => `the review of the result failed: ${problem}`,
  denied: ({ reasons }) => (reasons === '' ? 'permission denied' : `permission denied: ${reasons}`),
};
