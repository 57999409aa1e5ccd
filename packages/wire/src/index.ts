export { LOCAL_AGENT, OPERATOR_AGENT } from './agents.ts';
export { BACKUP_HEADERS, BACKUP_TYPE } from './backup.ts';
export {
  CALL_STATES,
  CALL_STATUSES,
  isCallState,
  isCallStatus,
  isTerminal,
  statesOf,
  statusOf,
} from './call-state.ts';
export type { CallStateName, CallStatus } from './call-state.ts';
export { CONSOLE_PAGES } from './console-pages.ts';
export type { ConsolePageName } from './console-pages.ts';
export { CONTENT_KEY, isContentJson, isContentValue } from './content/content-value.ts';
export type {
  AudioResult,
  ContentValue,
  ImageResult,
  LinkResult,
  ResourceResult,
  ResultBlock,
  TextResult,
} from './content/content-value.ts';
export {
  base64Bytes,
  blockName,
  blocksOf,
  blockText,
  contentText,
  sizeText,
  structuredText,
} from './content/block-text.ts';
export { audioBlock, content, imageBlock, resourceBlock } from './content/make-content.ts';
export { DEVICE_CLOSE, DEVICE_PROTOCOL } from './device.ts';
export type { DeviceFrame, DeviceToolSpec, DeviceView, GatewayFrame, NotKept } from './device.ts';
export { SESSION_COOKIE, SESSION_PROOF_HEADER, sessionIdIn } from './session-cookie.ts';
export { EVENT_TYPES } from './events.ts';
export type {
  CallProgressEvent,
  ToolCustomEvent,
  CallStateEvent,
  DeviceChangedEvent,
  EventType,
  InputGivenEvent,
  InputRequiredEvent,
  PromptsChangedEvent,
  RegistryChangedEvent,
  ResourcesChangedEvent,
  StreamEvent,
  UpstreamChangedEvent,
} from './events.ts';
export { byFailureCode, FAILURE_CODES, FAILURE_TABLE, isFailureCode } from './failure-codes.ts';
export type { FailureCode, FailureRow, McpFailureName, TenantErrorName } from './failure-codes.ts';
export { HTTP_HINTS } from './http-hints.ts';
export { INPUT_FAILURE_CODES } from './internal.ts';
export type {
  AckRequest,
  ClientInputRequest,
  ClientInputView,
  InputFailureCode,
  RegisterRequest,
  RegisterResponse,
  RejectedTool,
  SubmitRequest,
  SubmissionError,
  SubmitResponse,
  ToolRequest,
  ToolSpec,
} from './internal.ts';
export { PEER_ID_PATTERN, TOOL_NAME_PATTERN, WIRE_LIMITS } from './wire-limits.ts';
export { MCP_CLIENTS, mcpClientConfig } from './mcp-clients.ts';
export type { McpClientConfig, McpClientName, McpConnection } from './mcp-clients.ts';
export type {
  BatchCallView,
  BatchView,
  ConversionView,
  DiscoveredToolView,
  FormattedToolsView,
  ParsedRequestView,
  ParseProblemView,
  ParseReportView,
  PromptView,
  ReadArgumentView,
  ToolCallConfigView,
  ToolResultView,
} from './model-views.ts';
export { KEY_KINDS, POLICY_WARNING_CODES } from './operator.ts';
export type {
  ApprovalRequestView,
  DecisionPreviewView,
  EffectName,
  ExplainView,
  GrantScopeName,
  GrantView,
  KeyKindName,
  CurrentSessionView,
  KeyView,
  LedgerHeadView,
  LedgerVerdictView,
  LoginLinkView,
  MintedKeyView,
  PatternMatchesView,
  PolicyReviewView,
  PolicyStepView,
  PolicyVersionDetailView,
  PolicyVersionView,
  PolicyView,
  PolicyWarningCode,
  PolicyWarningView,
  PredicateView,
  SessionView,
  TenantLimitsView,
  TenantRateView,
  TenantView,
} from './operator.ts';
export { ENGLISH } from './reasons/english.ts';
export type { ReasonCode, ReasonParams, ReasonSentences } from './reasons/english.ts';
export type { CallFailures } from './reasons/call-failures.ts';
export type { CommandReasons } from './reasons/command-reasons.ts';
export type { DecisionReasons } from './reasons/decision-reasons.ts';
export type { FailureSummaries } from './reasons/failure-summaries.ts';
export type { FileRefusals } from './reasons/file-refusals.ts';
export type { JsonProblems } from './reasons/json-problems.ts';
export type { McpUpstreamFailures } from './reasons/mcp-upstream-failures.ts';
export type { OpenApiFailures } from './reasons/openapi-failures.ts';
export type { OpenApiProblems } from './reasons/openapi-problems.ts';
export type { PackFailures } from './reasons/pack-failures.ts';
export type { ParseProblems } from './reasons/parse-problems.ts';
export type { PolicyProblems } from './reasons/policy-problems.ts';
export type { QueryProblems } from './reasons/query-problems.ts';
export type { RegistrationProblems } from './reasons/registration-problems.ts';
export type { RequestRefusals } from './reasons/request-refusals.ts';
export type { ResourceProblems } from './reasons/resource-problems.ts';
export type { SchemaIssues } from './reasons/schema-issues.ts';
export type { SchemaProblems } from './reasons/schema-problems.ts';
export type { SdkFailures } from './reasons/sdk-failures.ts';
export type { ServerRefusals } from './reasons/server-refusals.ts';
export type { ToolRejections } from './reasons/tool-rejections.ts';
export type { ValueProblems } from './reasons/value-problems.ts';
export type { WorkspaceFailures } from './reasons/workspace-failures.ts';
export type { ReasonParam, ReasonView, Sentences } from './reasons/reason.ts';
export { isReason, isReasonView, reason, reasonsText, reasonText, textIn } from './reasons/reason-text.ts';
export type { Reason } from './reasons/reason-text.ts';
export type { ClusterStatsView, NodeStateName, NodesView, NodeView, TakeoverView } from './nodes.ts';
export type { TenantStatsView } from './stats.ts';
export type {
  CompletionView,
  PromptArgumentView,
  PromptMessagesView,
  PromptMessageView,
  PromptSummaryView,
  ResourceAnnotations,
  ResourceContentsView,
  ResourceContentView,
  ResourceTemplateView,
  ResourceView,
} from './resource-views.ts';
export { shellQuoted, shellWord } from './shell-words.ts';
export { nearestName } from './spelling.ts';
export { encodeSse, encodeSsePosition, sseDecoder } from './sse.ts';
export type { SseFrame } from './sse.ts';
export { parseTime, rfc3339 } from './time.ts';
export { parseUriTemplate } from './uri-template.ts';
export type { UriTemplate } from './uri-template.ts';
export { INPUT_ACTIONS, INPUT_KINDS, TOOL_SOURCES } from './views.ts';
export type {
  ApprovalView,
  AttemptView,
  CallErrorView,
  CallView,
  DecisionView,
  DryRunView,
  InputAction,
  InputIssueView,
  InputKind,
  InputRequestView,
  InputResponseBody,
  InputRoundView,
  JsonSchema,
  LedgerRowView,
  McpClientView,
  OutcomeKnowledge,
  SandboxName,
  ProblemView,
  ReceiptView,
  RunView,
  TimelineEntryView,
  ToolAnnotations,
  ToolDetailView,
  ToolSourceName,
  ToolView,
  TraceCallView,
  TraceLedgerView,
} from './views.ts';
export { UPSTREAM_KINDS } from './upstreams.ts';
export type {
  AcceptContractBody,
  AcceptContractView,
  ContractChangeView,
  ContractDifference,
  ReloadUpstreamsView,
  UpstreamKind,
  UpstreamStateName,
  UpstreamToolView,
  UpstreamView,
} from './upstreams.ts';
export { CALL_ORDERS, CALL_SORTS, QUERY_LIMITS } from './search/call-query.ts';
export type {
  CallOrderName,
  CallQuery,
  CallSortName,
  MsRange,
  NamePatterns,
  ParsedCallQuery,
  QueryProblem,
  QueryTarget,
} from './search/call-query.ts';
export { formatCallQuery } from './search/format-query.ts';
export { parseCallQuery } from './search/parse-query.ts';
export { completionAt, insertCompletion } from './search/query-completion.ts';
export type { QueryCompletion, QueryOption } from './search/query-completion.ts';
export { CALL_QUERY_KEYS } from './search/query-keys.ts';
export type { QueryKey, QueryKeyKind, QueryKeyName } from './search/query-keys.ts';
export { queryTerm, queryTerms, withQueryTerm } from './search/query-terms.ts';
export type { QueryPart, QueryTerm, QueryValue } from './search/query-terms.ts';
export { durationText, momentText, parseDuration, parseMoment } from './search/query-time.ts';
export { readableDuration } from './readable-duration.ts';
export { runningCalls, shownRunOutcome } from './search/shown-run-outcome.ts';
export type { ShownRunOutcome } from './search/shown-run-outcome.ts';
export { isExpiredName, isRefusedName, STATE_GROUP_NAMES, statesNamed } from './search/state-names.ts';
export { METRIC_GROUPS, RUN_OUTCOMES } from './search/search-views.ts';
export type {
  CallMetricsView,
  MetricGroupName,
  MetricPointView,
  MetricSeriesView,
  OutcomeName,
  PercentilesView,
  RefusedCallView,
  RunCallsView,
  RunOutcomeName,
} from './search/search-views.ts';
