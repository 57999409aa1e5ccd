import type { SchemaProblems, Sentences } from '@patchboard/wire';

export const schemaProblems: Sentences<SchemaProblems> = {
  schema_at: ({ pointer, problem }) => `在 ${pointer}：${problem}`,
  schema_at_top: ({ problem }) => `在最外层：${problem}`,
  schema_not_json: () => 'schema 必须是 JSON 对象或布尔值',
  schema_not_schema: () => 'schema 必须是对象或布尔值',
  schema_inner_id: () => '不支持内层的 "$id"',
  schema_over_bytes: ({ bytes }) => `schema 超过 ${bytes} 字节`,
  schema_too_deep: () => '嵌套太深',
  schema_many_properties: ({ count }) => `schema 的属性超过 ${count} 个`,
  schema_many_checks: ({ count }) => `schema 的关键字和子 schema 超过 ${count} 个`,
  schema_many_references: ({ count }) => `引用的 schema 超过 ${count} 个`,
  schema_many_patterns: ({ count }) => `schema 的模式超过 ${count} 个`,
  schema_large_patterns: () => 'schema 的模式太大',
  schema_multiplies: () => 'schema 对一个值检查太多次：嵌套的组合成倍增长',
  schema_refers_to_itself: () => '引用绕回自身，而没有进入值的内部',
  schema_reference_missing: ({ reference }) => `引用 ${reference} 没有指向任何内容`,
  schema_reference_outside: ({ reference }) => `引用 ${reference} 指向 schema 之外，而外部内容从不获取`,
  param_header_misplaced: () =>
    'x-mcp-header 只能用于仅经由 `properties` 到达的属性，不能在列表、组合、条件或定义之内',
  param_header_not_token: () =>
    "x-mcp-header 必须是请求头名称的一部分：一个或多个 A-Z a-z 0-9 ! # $ % & ' * + - . ^ _ ` | ~",
  param_header_not_primitive: () => 'x-mcp-header 只能用于 type 为 string、integer 或 boolean 的属性',
  param_header_twice: ({ name }) => `另一个属性已有 x-mcp-header ${name}；只有大小写不同的请求头名称视为相同`,
  hidden_characters: () => '含有控制字符、双向控制字符、零宽字符或填充字符',
  pattern_malformed: ({ error }) => `不是正则表达式：${error}`,
  pattern_too_long: ({ characters }) => `模式超过 ${characters} 个字符`,
  pattern_repeats_too_often: () => '模式太大：嵌套重复次数的乘积最多为 1000',
  pattern_too_large: () => '模式太大：编译后超过大小上限',
  pattern_too_deep: () => '模式太大：嵌套太深',
  pattern_unsupported: () => '不支持这个模式：它使用了环视、反向引用或其他无法线性时间匹配的功能',
};
