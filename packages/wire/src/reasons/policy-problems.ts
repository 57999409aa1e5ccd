import type { NoParams, Sentences } from './reason.ts';

/** What is wrong with a member of a policy document, without its place; and warnings about lines that have no effect. */
export interface PolicyProblems {
  readonly policy_effect_unknown: NoParams;
  readonly policy_pointer_malformed: NoParams;
  readonly policy_conditions_not_list: NoParams;
  readonly policy_condition_without_test: { readonly tests: string };
  readonly policy_pattern_too_long: { readonly length: number; readonly most: number };
  /** `meant`: the registered name or pattern that is spelt most similarly. */
  readonly pattern_matches_nothing: {
    readonly rule: string;
    readonly pattern: string;
    readonly meant?: string;
  };
  readonly agent_without_key: { readonly rule: string; readonly agent: string };
  readonly rule_shadowed: {
    readonly rule: string;
    readonly pattern: string;
    readonly by: string;
    readonly by_pattern: string;
  };
}

export const POLICY_PROBLEMS: Sentences<PolicyProblems> = {
  policy_effect_unknown: () => 'must be allow, ask or deny',
  policy_pointer_malformed: () => 'must be a JSON pointer such as /cents',
  policy_conditions_not_list: () => 'must be a list of conditions',
  policy_condition_without_test: ({ tests }) => `needs a test: ${tests}`,
  policy_pattern_too_long: ({ length, most }) =>
    `is a pattern of ${length} characters, and ${most} are allowed`,
  pattern_matches_nothing: ({ rule, pattern, meant }) =>
    `${rule}: "${pattern}" matches no tool that is registered now` +
    (meant === undefined ? '' : `; did you mean ${meant}?`),
  agent_without_key: ({ rule, agent }) =>
    `${rule}: no key in force is named "${agent}", so no call is decided by these lines`,
  rule_shadowed: ({ rule, pattern, by, by_pattern: byPattern }) =>
    `${rule}: "${pattern}" never decides, because ${by} ("${byPattern}") comes first`,
};
