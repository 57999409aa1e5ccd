import type { QueryProblems, Sentences } from '@patchboard/wire';

/** What is wrong with a query for calls, and the help for its keys. */
export const queryProblems: Sentences<QueryProblems> = {
  query_at_column: ({ column, problem }) => `第 ${column} 列：${problem}`,
  query_too_long: ({ characters }) => `查询最多 ${characters} 个字符`,
  query_too_many_terms: ({ count }) => `查询最多 ${count} 个条件`,
  query_key_unknown: ({ key, known }) =>
    `没有 "${key}" 这个键；可用的键：${known}；要搜索含有 ":"、">" 或 "<" 的文本，请加双引号`,
  query_key_unknown_near: ({ key, meant }) => `没有 "${key}" 这个键；是否想写 ${meant}？`,
  query_operator: ({ key, operator, operators }) => `${key} 后面不能写 "${operator}"；请写 ${operators}`,
  query_value_missing: ({ key }) => `${key} 没有值`,
  query_value_too_long: ({ characters }) => `一个值最多 ${characters} 个字符`,
  query_value_unknown: ({ key, value, known }) => `"${value}" 不是 ${key} 的值；可用的值：${known}`,
  query_value_unknown_near: ({ key, value, meant }) => `"${value}" 不是 ${key} 的值；是否想写 ${meant}？`,
  query_single_value: ({ key }) => `${key} 只能有一个值；含有逗号的值请加双引号`,
  query_key_twice: ({ key }) => `${key} 写了两次；要匹配其中任意一个，请写 ${key}:one,other`,
  query_single_twice: ({ key }) => `${key} 写了两次；请删去一个`,
  query_not_excludable: ({ key }) =>
    `- 不能排除 ${key} 的值；可以排除 tool、agent、state、status 和 code 的值`,
  query_text_excluded: () => '- 不能排除文本；要搜索以 - 开头的文本，请加双引号',
  query_text_without_words: () => '文本里没有字母、汉字或数字，无法据此查找',
  query_too_many_wildcards: ({ count }) => `一个值最多有 ${count} 个 *`,
  query_not_duration: ({ value }) =>
    `"${value}" 不是十年以内的时长；请写数字和单位，例如 500ms、2s、1m30s、1h 或 7d`,
  query_not_time: ({ value }) =>
    `"${value}" 不是时间；请写多久以前（15m、1h、7d）、日期（2026-01-31）或 RFC 3339（2026-01-31T10:00:00Z）`,
  query_quote_unclosed: () => '双引号没有闭合',
  query_after_quote: () => '右引号之后必须有空格；引号内的引号请写成 \\"',
  query_state_expired: () => '审批过期的调用是带错误码的“已拒绝”：请写 code:approval_expired',
  query_matches_nothing: () => '加上这个条件后，没有任何调用能匹配',
  query_refused_alone: () => '被拒绝的请求不是调用：state:refused 不能排除，也不能与其他状态同时使用',
  query_refused_elsewhere: () => '被拒绝的请求不是调用：请用 GET /v1/refused_calls 查询，并去掉这个条件',
  query_not_of_refused: () =>
    '被拒绝的请求没有这个属性；可以用 tool、agent、code、trace、since 和 until 查找',
  query_not_of_metrics: () => '指标只能用 tool 和 agent 筛选',
  query_help_tool: () => '工具名；* 代表任意字符',
  query_help_agent: () => '发出调用的 Agent；* 代表任意字符',
  query_help_state: () =>
    '调用的状态，或 open（未结束）、waiting（等待中）、ended（已结束）、refused（被拒绝）',
  query_help_status: () => '调用的 status',
  query_help_code: () => '失败代码；* 代表任意字符',
  query_help_run: () => 'run 的 ID',
  query_help_trace: () => 'trace 的 ID',
  query_help_parent: () => '在其运行期间发出此调用的调用 ID',
  query_help_client: () => '执行此调用的客户端（在其设备上或通过其队列）',
  query_help_since: () => '创建时间不早于：1h（一小时前）、日期或 RFC 3339',
  query_help_until: () => '创建时间早于：1h（一小时前）、日期或 RFC 3339',
  query_help_waited: () => '运行前的等待时间，例如 >500ms',
  query_help_ran: () => '运行时间，例如 >2s',
  query_help_total: () => '从创建到结束的时间，例如 >90s',
};
