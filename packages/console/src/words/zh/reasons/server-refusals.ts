import type { Sentences, ServerRefusals } from '@patchboard/wire';

export const serverRefusals: Sentences<ServerRefusals> = {
  bodies_arriving_full: () => '服务器正在接收的请求体占用的内存已达上限；请稍后再试',
  bodies_held_full: () => '正在处理的请求体占用的内存已达上限；请稍后再试',
  responses_held_full: () => '尚未读取的响应占用的内存已达上限；请减少请求的内容，或更快地读取',
  request_took_too_long: () => '请求用时太长',
  request_not_in_time: () => '请求没有及时到达',
  request_not_http: () => '请求不是有效的 HTTP',
  headers_over_limit: ({ bytes }) => `请求头超过上限 ${bytes} 字节`,
  cursor_unknown: () => '这个列表没有返回过这个游标；请不带游标重新开始',
  upgrade_needed: () => '这个接口是 WebSocket：请发送升级请求',
  devices_of_tenant: ({ count }) => `这个租户已有 ${count} 个设备连接，达到上限`,
  devices_of_address: ({ count }) => `这个地址已有 ${count} 个设备连接，达到上限`,
  connections_of_client: ({ client, count }) => `客户端 ${client} 已打开 ${count} 个连接，达到上限`,
  risk_for_operators: () => '只有操作员能清除工具的风险记录',
  upstreams_not_reloadable: () => '上游由嵌入本服务器的程序设定：要更改它们，请重启该程序',
  contract_changed_again: ({ tool }) => `${tool} 的契约又变了：请重新查看变更后再接受`,
  upstream_unknown: ({ upstream, known }) =>
    known === ''
      ? `没有名为 ${upstream} 的上游：尚未配置任何上游`
      : `没有名为 ${upstream} 的上游；现有：${known}`,
  upstream_tool_unknown: ({ upstream, tool }) => `上游 ${upstream} 没有工具 ${tool}`,
  tenant_not_set: ({ tenant }) => `租户 ${tenant} 没有操作员所做的设置`,
  pack_unknown: ({ pack, known }) => `body/packs 中有 ${pack}，但只有 ${known}`,
  metrics_of_server: () => '这些指标属于整个服务器，而凭据只属于一个租户',
  context_differs: ({ places }) => `请求体与请求头不一致：${places}`,
  context_member_differs: ({ member, header }) => `context/${member} 与 ${header} 不同`,
  file_unknown: ({ path }) => `没有这个文件：${path}`,
  backup_running: () => '本服务器正在制作另一份备份：请等它结束后再试',
  backup_no_space: () => '数据目录所在磁盘放不下存储的第二份副本，而制作备份时需要它',
  search_index_unusable: ({ file, problem }) =>
    `搜索索引 ${file} 无法使用（${problem}），因此没有搜索、指标和 run 的调用数：请让运行本服务器的用户可以读写它，或把它移走，它会根据存储重新生成`,
  backup_elsewhere: () => '本服务器的存储不是文件：请用其数据库自带的工具备份，PostgreSQL 用 pg_dump',
};
