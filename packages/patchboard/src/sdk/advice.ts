import type { FailureCode } from '@patchboard/wire';

/** Languages of failure messages and recommendations. */
export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

export const DEFAULT_LANGUAGE: Language = 'en';

interface Advice {
  readonly en: readonly string[];
  readonly zh: readonly string[];
  /** The meaning of the code in Chinese; the English text is in the failure table. */
  readonly meaning: string;
}

/** Advice for a call that may have had an effect. `START_AGAIN` replaces it if the call did not start. */
export const CHECK_EFFECT: Readonly<Record<Language, string>> = {
  en: 'it may have taken effect: check before you try again',
  zh: '操作可能已经生效:重试之前先确认结果',
};

export const START_AGAIN: Readonly<Record<Language, string>> = {
  en: 'it had no effect: try again if it is still needed',
  zh: '它确定没有生效:如仍需要,可以重新请求',
};

/** Recommendations for each failure code. */
export const ADVICE: Readonly<Record<FailureCode, Advice>> = {
  tool_not_found: {
    meaning: '这里没有可以调用的同名工具',
    en: ['use the name of a tool that is listed', 'check that the tool is registered and allowed here'],
    zh: ['使用列表中已有的工具名', '检查工具是否已注册并允许调用'],
  },
  method_not_found: {
    meaning: '该工具没有这个方法',
    en: ['use the name of a method that is listed'],
    zh: ['使用列表中已有的方法名'],
  },
  method_not_callable: {
    meaning: '该方法不允许 agent 调用',
    en: ['use a method that is listed'],
    zh: ['改用列表中可调用的方法'],
  },
  call_not_found: { meaning: '没有这个调用', en: ['check the id of the call'], zh: ['检查调用 ID'] },
  run_not_found: { meaning: '没有这个运行', en: ['check the id of the run'], zh: ['检查运行 ID'] },
  key_not_found: { meaning: '没有这个密钥', en: ['check the id of the key'], zh: ['检查密钥 ID'] },
  grant_not_found: { meaning: '没有这个授权', en: ['check the id of the grant'], zh: ['检查授权 ID'] },
  resource_not_found: {
    meaning: '没有这个资源',
    en: ['list the resources and use one of their URIs'],
    zh: ['列出资源,使用其中的 URI'],
  },
  prompt_not_found: {
    meaning: '没有这个提示词',
    en: ['list the prompts and use one of their names'],
    zh: ['列出提示词,使用其中的名称'],
  },
  route_not_found: { meaning: '没有这个路由', en: ['check the address'], zh: ['检查地址'] },
  method_not_allowed: {
    meaning: '该路由使用其他 HTTP 方法',
    en: ['use one of the methods that the error names'],
    zh: ['改用错误中列出的方法'],
  },
  input_invalid: {
    meaning: '参数不符合工具的 schema',
    en: ["compare the arguments with the tool's schema", 'correct what the error names and try again'],
    zh: ['检查参数是否符合 schema', '根据提示修正后重试'],
  },
  body_invalid: { meaning: '请求格式不正确', en: ['correct the request'], zh: ['修正请求后重试'] },
  content_type: {
    meaning: '请求体不是 application/json',
    en: ['send JSON with content-type application/json'],
    zh: ['使用 application/json 发送 JSON'],
  },
  too_large: { meaning: '请求超过大小限制', en: ['send less at a time'], zh: ['分次发送更小的内容'] },
  auth_required: { meaning: '需要凭据', en: ['send a credential with the request'], zh: ['携带凭据后重试'] },
  permission_denied: {
    meaning: '策略或凭据不允许',
    en: ['use another approach without this tool', 'ask the operator to change the policy'],
    zh: ['换一种不需要此工具的做法', '请运维人员调整策略'],
  },
  hook_denied: {
    meaning: '钩子拒绝了此调用',
    en: ['read the reason and use another approach'],
    zh: ['阅读原因,换一种做法'],
  },
  approval_denied: {
    meaning: '审批人拒绝了此调用',
    en: ['do not request the same operation again', "follow the operator's note, if there is one"],
    zh: ['不要重复请求同一操作', '如有审批备注,请按备注处理'],
  },
  approval_expired: {
    meaning: '审批已过期,无人决定',
    en: ['try again when an operator is available to decide'],
    zh: ['等有人审批时再请求'],
  },
  input_unavailable: {
    meaning: '工具需要输入,而调用方无法提供',
    en: [
      'call the tool again with the missing values as arguments',
      'call it through an API that can give input',
    ],
    zh: ['把缺少的值作为参数重新调用', '改用能提供输入的接口调用'],
  },
  input_declined: {
    meaning: '调用方拒绝提供工具所需的输入',
    en: ['do not ask for the same input again', 'use another approach'],
    zh: ['不要再次索取同样的输入', '换一种做法'],
  },
  input_expired: {
    meaning: '调用方没有及时提供工具所需的输入',
    en: ['call the tool again when the input can be given'],
    zh: ['等能提供输入时再调用'],
  },
  name_invalid: {
    meaning: '名称不符合规则',
    en: ['use 1 to 128 characters of A-Z a-z 0-9 _ . - and not only dots'],
    zh: ['使用 1 到 128 个 A-Z a-z 0-9 _ . - 字符,且不能全是点'],
  },
  name_taken: { meaning: '名称已被占用', en: ['choose another name'], zh: ['换一个名称'] },
  schema_invalid: {
    meaning: 'schema 无法在限制内编译',
    en: ['correct the schema at the place named in the error'],
    zh: ['按提示修正 schema'],
  },
  conflict: {
    meaning: '当前状态不允许此操作',
    en: ['read the current state before you continue'],
    zh: ['先读取当前状态再继续'],
  },
  idempotency_mismatch: {
    meaning: '同一幂等键用于不同的请求',
    en: ['use another key for another request'],
    zh: ['不同的请求使用不同的幂等键'],
  },
  rate_limited: { meaning: '请求过多', en: ['wait a moment, then try again'], zh: ['稍等片刻后重试'] },
  queue_full: {
    meaning: '等待中的调用过多',
    en: ['wait until earlier calls have ended'],
    zh: ['等待之前的调用结束'],
  },
  queue_timeout: {
    meaning: '排队超时,调用没有开始',
    en: ['try again; the call did not start'],
    zh: ['可以重试,它确定没有开始'],
  },
  overloaded: { meaning: '服务器过忙', en: ['wait a moment, then try again'], zh: ['稍等片刻后重试'] },
  provider_offline: {
    meaning: '没有可执行此工具的客户端在线',
    en: ['try again when the client that runs it is connected', 'use another tool'],
    zh: ['等客户端上线后重试', '改用其他工具'],
  },
  provider_disconnected: {
    meaning: '执行方在调用过程中断开',
    en: [CHECK_EFFECT.en],
    zh: [CHECK_EFFECT.zh],
  },
  timeout: {
    meaning: '在期限内没有结果',
    en: [CHECK_EFFECT.en, 'split the task into smaller calls'],
    zh: [CHECK_EFFECT.zh, '把任务拆小'],
  },
  cancelled: {
    meaning: '调用已取消',
    en: ['do not repeat it unless you are told to'],
    zh: ['除非被要求,不要重复执行'],
  },
  interrupted: {
    meaning: '服务器在调用过程中停止',
    en: [CHECK_EFFECT.en],
    zh: [CHECK_EFFECT.zh],
  },
  value_not_found: {
    meaning: '参数中的值没有对应的对象',
    en: ['list or search the existing objects, then try again with a name that exists'],
    zh: ['先列出或搜索已有的对象,再用存在的名称重试'],
  },
  tool_failed: {
    meaning: '工具报告失败',
    en: ['read the error and change the arguments, or use another approach'],
    zh: ['阅读错误,修改参数或换一种做法'],
  },
  resource_failed: {
    meaning: '资源或提示词无法读取',
    en: ['read the error; try again later', 'tell the author of the pack if the error persists'],
    zh: ['阅读错误,稍后重试', '如果持续出现,请联系包的作者'],
  },
  output_invalid: {
    meaning: '结果不符合工具的输出 schema',
    en: [CHECK_EFFECT.en, 'tell the author of the tool'],
    zh: [CHECK_EFFECT.zh, '联系工具作者'],
  },
  result_invalid: {
    meaning: '无法读取运行方发来的结果',
    en: [CHECK_EFFECT.en, 'tell the author of the tool'],
    zh: [CHECK_EFFECT.zh, '联系工具作者'],
  },
  result_too_large: {
    meaning: '结果超过大小限制',
    en: ['request only a part: fewer rows, a shorter range'],
    zh: ['只请求一部分:更少的行或更短的范围'],
  },
  sandbox_unavailable: {
    meaning: '没有沙箱可以运行此工具',
    en: ['use another tool', 'ask the operator to set up a sandbox'],
    zh: ['改用其他工具', '请运维人员配置沙箱'],
  },
  upstream_unreachable: {
    meaning: '工具所需的服务没有响应',
    en: ['try again later', 'check the address of the service'],
    zh: ['稍后重试', '检查服务地址'],
  },
  storage_full: {
    meaning: '存储空间不足,没有记录任何内容',
    en: ['try again when the operator has freed disk space'],
    zh: ['等运维人员清理空间后重试'],
  },
  storage_unavailable: {
    meaning: '存储不可用,没有记录任何内容',
    en: ['try again later', 'tell the operator that the data folder or the database is not available'],
    zh: ['稍后重试', '告知运维人员数据目录或数据库不可用'],
  },
  misdirected: {
    meaning: 'Host 头指向另一台服务器',
    en: ['use the address of this server'],
    zh: ['使用此服务器的地址'],
  },
  internal: {
    meaning: '服务器内部错误',
    en: ['try again', 'tell the operator if the error persists'],
    zh: ['重试', '如果持续出现,请告知运维人员'],
  },
};
