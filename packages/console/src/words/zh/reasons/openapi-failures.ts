import type { OpenApiFailures, Sentences } from '@patchboard/wire';

export const openApiFailures: Sentences<OpenApiFailures> = {
  openapi_argument: ({ argument, problem }) => `${argument} ${problem}`,
  openapi_value_missing: () => '必填',
  openapi_value_empty: () => '不能为空，因为它是路径的一部分',
  openapi_value_dots: () => '不能是或包含路径段“.”或“..”',
  openapi_value_surrogate: () => '含有不成对的代理码元，不是有效的 Unicode',
  openapi_value_header: () => '作为请求头发送：只能含可见的 ASCII 字符',
  openapi_value_delimiter: ({ character, style }) => `有一项含有分隔符“${character}”（style ${style}）`,
  openapi_value_base64: () => '必须是 base64',
  openapi_value_not_text: ({ mediaType }) => `必须是字符串：它作为 ${mediaType} 发送`,
  openapi_value_not_object: ({ mediaType }) => `必须是对象：它作为 ${mediaType} 发送`,
  openapi_path_dots: ({ path }) => `路径 ${path} 会含有“.”或“..”段，指向另一条路径`,
  openapi_placeholder_unknown: ({ path, name }) => `描述没有为 ${path} 中的 {${name}} 声明参数`,
  openapi_body_of_get: ({ method }) => `${method} 请求不能有请求体`,
  openapi_header_invalid: ({ name }) => `请求头 ${name} 无效：名称不能有空格，值只能含可见的 ASCII 字符`,
};
