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
  openapi_server_unknown: ({ server, key }) => `描述中的服务器“${server}”不是完整的 URL：请设置 ${key}`,
  openapi_server_invalid: ({ server, key }) =>
    `服务器 ${server} 的 URL 必须以 http: 或 https: 开头，且不含用户名和密码：请设置 ${key}`,
  openapi_server_private: ({ error, key }) => `${error}：要允许这个服务器，请设置 ${key}`,
  openapi_security_missing: ({ method, path, scheme, key, wanted }) =>
    `${method} ${path} 需要安全方案 ${scheme}：请在 ${key} 中设置 ${wanted}`,
  openapi_security_unsupported: ({ method, path, scheme }) =>
    `${method} ${path} 需要安全方案 ${scheme}，不支持它的类型：请在该上游的 \`headers\` 中发送凭据`,
  openapi_token_failed: ({ scheme, error }) => `安全方案 ${scheme}：${error}`,
  openapi_retry_after: ({ method, path, seconds }) =>
    `${method} ${path} 没有发送：服务器在 ${seconds} 秒后才再接受，晚于这次调用的截止时间`,
  openapi_status: ({ method, path, status }) => `${method} ${path} 返回 ${status}`,
  openapi_status_detail: ({ method, path, status, detail }) => `${method} ${path} 返回 ${status}：${detail}`,
  openapi_redirect: ({ method, path, status, location }) =>
    `${method} ${path} 返回 ${status}，指向 ${location}，没有跟随`,
  openapi_not_sent: ({ method, path, error }) => `${method} ${path} 没有发送：${error}`,
  openapi_no_response: ({ method, path, error }) => `${method} ${path} 已发送，没有收到完整的响应：${error}`,
  openapi_response_not_json: ({ mediaType }) => `响应的类型是 ${mediaType}，但不是有效的 JSON`,
  openapi_response_too_large: ({ method, path, bytes }) => `${method} ${path} 的响应超过 ${bytes} 字节`,
};
