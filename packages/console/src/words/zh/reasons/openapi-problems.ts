import type { OpenApiProblems, Sentences } from '@patchboard/wire';

export const openApiProblems: Sentences<OpenApiProblems> = {
  description_over_bytes: ({ bytes }) => `OpenAPI 描述超过 ${bytes} 字节`,
  description_unreadable: ({ error }) => `OpenAPI 描述既不是 JSON 也不是 YAML：${error}`,
  description_too_deep: ({ levels }) => `OpenAPI 描述的嵌套超过 ${levels} 层`,
  description_many_values: ({ count }) => `OpenAPI 描述的值超过 ${count} 个；YAML 别名按其代表的内容计数`,
  description_many_operations: ({ count }) => `OpenAPI 描述的操作超过 ${count} 个`,
  description_not_openapi: () => '这不是 OpenAPI 描述：它必须是带有成员 `openapi` 的对象，例如 "3.1.0"',
  description_swagger: ({ version }) =>
    `这是 Swagger ${version} 描述；请先转换为 OpenAPI 3，例如用 \`npx swagger2openapi\``,
  description_version: ({ version }) => `不支持 OpenAPI ${version}；支持的版本是 3.0.x 和 3.1.x`,
  operation_rejected: ({ problem, pattern }) => `${problem}；要排除它，请在 \`tools\` 中加入 "${pattern}"`,
  operation_over_count: ({ count, pattern }) =>
    `已提供 ${count} 个操作；请用 \`tools\` 选择更少的操作，例如 ["${pattern}"]`,
  operation_name_long: ({ characters, most, pattern }) =>
    `它的工具名称有 ${characters} 个字符，而名称最多 ${most} 个；请给它更短的 operationId，或在 \`tools\` 中用 "${pattern}" 排除它`,
  operation_name_taken: ({ name, operation, other, pattern }) =>
    `${operation} 和 ${other} 的工具名称都是 ${name}；要改为提供 ${operation}，请在 \`tools\` 中加入 "${pattern}"`,
  operation_reference_outside: ({ reference }) =>
    `它使用的引用 ${reference} 指向描述之外，从不获取；请把描述合并为一个文件`,
  operation_reference_missing: ({ reference }) => `它使用的引用 ${reference} 没有指向任何内容`,
  operation_member_invalid: ({ place }) => `${place} 不符合 OpenAPI 的要求`,
  operation_method: ({ method }) => `不支持方法 ${method}`,
  operation_body_types: ({ types }) =>
    `它的请求体的媒体类型是 ${types}；支持 JSON、表单、文本以及 schema 为二进制的类型`,
};
