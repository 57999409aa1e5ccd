import type { Sentences, ToolRejections } from '@patchboard/wire';

const NAME_RULE = '名称由 1 到 128 个 A-Z a-z 0-9 _ . - 组成，不能只有点，也不能是 __proto__';

export const toolRejections: Sentences<ToolRejections> = {
  tool_name_rule: () => NAME_RULE,
  tool_name_bad: ({ name }) => `工具名称不合规则：${name}：${NAME_RULE}`,
  module_id_bad: ({ id }) => `模块 id 不合规则：${id}：请用 A-Z a-z 0-9 _ . -`,
  method_name_bad: ({ module, name }) =>
    `模块 ${module} 的方法名称不合规则：${name}：请用 A-Z a-z 0-9 . -，不能有 _`,
  factory_makes_other: ({ name, made }) => `${name} 的工厂函数返回的工具名为 ${made}`,
  module_registered_twice: ({ id }) => `模块注册了两次：${id}`,
  tool_registered_twice: ({ tool }) => `工具注册了两次：${tool}`,
  name_is_wire_name: ({ tool }) => `这个名称是 ${tool} 的 wire name`,
  name_reserved: ({ name }) => `${name} 由本服务器保留：请用其他名称`,
  name_prefix_reserved: ({ name }) =>
    `${name}：前缀 patchboard. 和 patchboard__ 保留给 Patchboard 各 API 自身的工具：请用其他名称`,
  name_held: ({ name, holder }) => `${name} ${holder}`,
  wire_name_held: ({ name, tool, holder }) => `${name} 是 ${tool} 的 wire name，而该工具${holder}`,
  held_by_server: () => '是本服务器的工具',
  held_by_server_choose_other: () => '是本服务器的工具：请用其他名称',
  held_by_client: ({ client, tool }) =>
    `属于本租户的客户端 ${client}：请用其他名称，或让该客户端释放 ${tool}` +
    `（用 DELETE /internal/clients/:client_id/tools/:name、在连接上发送 \`unregister_tools\`，或结束连接）`,
  name_lent: ({ name, holder }) => `有客户端以 ${name} 为名注册了工具：它${holder}`,
  name_lent_elsewhere: ({ name }) => `另一个租户的客户端以 ${name} 为名注册了工具：请用其他名称`,
  name_not_registrable: () => '策略不允许客户端注册这个名称',
  device_gone: () => '设备已断开',
  contract_of_devices: ({ devices, tool }) =>
    `这个客户端的设备 ${devices} 以不同的契约提供 ${tool}：请使用该契约，或先让它发送 \`unregister_tools\` 或断开`,
  contract_over_http: ({ client, tool }) =>
    `客户端 ${client} 已通过 HTTP 以不同的契约注册 ${tool}：请使用该契约，或先释放该工具` +
    `（DELETE /internal/clients/:client_id/tools/:name）`,
  upstream_name_taken: ({ name, tool, other }) =>
    `${tool} 在这里的名称会是 ${name}，而上游的工具 ${other} 已使用该名称：请在 \`tools\` 中排除其中一个`,
  upstream_name_long: ({ characters, most }) =>
    `加上上游的名称后，名称有 ${characters} 个字符：最多允许 ${most} 个`,
  name_similar: ({ other }) => `名称与工具 ${other} 只有大小写、点或下划线的差别；请用其他名称`,
  tools_of_client: ({ count }) => `一个客户端最多注册 ${count} 个工具`,
  tools_of_tenant: ({ count }) => `一个租户的客户端最多注册 ${count} 个工具`,
  tool_bytes_of_tenant: ({ bytes }) => `一个租户的工具合计最多 ${bytes} 字节`,
  risky_names_of_tenant: ({ count }) => `已记住 ${count} 个名称的风险；操作员必须先清除一个`,
  spec_timeout_range: ({ most }) => `timeout_ms 必须是 1 到 ${most} 的整数`,
  description_over_limit: ({ bytes }) => `description 超过 ${bytes} 字节`,
  metadata_over_limit: ({ bytes }) => `metadata 写成 JSON 后超过 ${bytes} 字节`,
  description_hidden: ({ problem }) => `description 中${problem}`,
  tool_timeout_range: ({ tool, most }) => `${tool} 的超时必须是 1 到 ${most} 的整数毫秒`,
  tool_reads_and_destroys: ({ tool }) => `${tool} 不能既是 readonly 又是 destructive`,
  tool_not_cacheable: ({ tool }) => `${tool} 不是 readonly，所以它的结果不能缓存`,
  tool_asks_and_caches: ({ tool }) => `${tool} 会向调用方请求输入，所以它的结果不能缓存`,
  slot_limit_range: ({ slot }) => `执行位 ${slot} 的上限必须是从 1 开始的整数`,
  input_schema_of: ({ tool, problem }) => `${tool} 的输入 schema：${problem}`,
  output_schema_of: ({ tool, problem }) => `${tool} 的输出 schema：${problem}`,
};
