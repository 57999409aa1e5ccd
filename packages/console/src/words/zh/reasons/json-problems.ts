import type { JsonProblems, Sentences } from '@patchboard/wire';

/** Why a text is not accepted as JSON. */
export const jsonProblems: Sentences<JsonProblems> = {
  json_key_forbidden: ({ key }) => `不允许使用键 "${key}"`,
  json_prototype_forbidden: () => '不允许在 "constructor" 下使用键 "prototype"',
  json_key_twice: ({ key }) => `键 ${key} 在同一个对象中出现了两次`,
  json_too_many_values: ({ count }) => `超过 ${count} 个值`,
  json_too_deep: ({ depth }) => `嵌套超过 ${depth} 层`,
  json_control_character: () => '字符串中的控制字符必须写成转义形式',
  json_string_unended: () => '文本在字符串中间就结束了',
  json_bad_escape: () => '字符串中反斜杠之后的转义无效',
  json_half_surrogate: () => '只有半个代理对：它不是字符，无法存为 UTF-8',
  json_leading_zero: () => '数字不能以 0 开头',
  json_number_too_large: () => '数字太大，无法保存：请作为字符串发送',
  json_number_loses_digits: () => '整数会丢失位数：请作为字符串发送',
  json_text_ends: ({ wanted }) => `文本已结束，此处应为${wanted}`,
  json_unexpected: ({ found, wanted }) => `出现 ${found}，此处应为${wanted}`,
  json_wanted_end: () => '文本的结尾',
  json_wanted_comma: ({ closer }) => `"," 或 "${closer}"`,
  json_wanted_key: () => '双引号中的键',
  json_wanted_colon: () => '":"',
  json_wanted_value: () => '一个值',
  json_wanted_digit: () => '一位数字',
  json_not_object: () => '它不是对象',
  json_arguments_not_object: () => '必须是一个对象',
  json_at_column: ({ problem, column }) => `${problem}（第 ${column} 列）`,
  json_at_line: ({ problem, line, column }) => `${problem}（第 ${line} 行第 ${column} 列）`,
};
