import type { PolicyProblems, Sentences } from '@patchboard/wire';

export const policyProblems: Sentences<PolicyProblems> = {
  policy_effect_unknown: () => '必须是 allow、ask 或 deny',
  policy_pointer_malformed: () => '必须是 JSON 指针，例如 /cents',
  policy_conditions_not_list: () => '必须是条件的列表',
  policy_condition_without_test: ({ tests }) => `需要一个测试：${tests}`,
  policy_pattern_too_long: ({ length, most }) => `模式有 ${length} 个字符，最多允许 ${most} 个`,
  pattern_matches_nothing: ({ rule, pattern, meant }) =>
    `${rule}：“${pattern}”不匹配任何已注册的工具` + (meant === undefined ? '' : `；是否想写 ${meant}？`),
  agent_without_key: ({ rule, agent }) => `${rule}：没有名为“${agent}”的有效密钥，所以这些行不决定任何调用`,
  rule_shadowed: ({ rule, pattern, by, by_pattern: byPattern }) =>
    `${rule}：“${pattern}”从不起作用：${by}（“${byPattern}”）在它前面`,
};
