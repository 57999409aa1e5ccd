export { createClient } from './client.ts';
export type { PatchboardClient } from './client.ts';
export type { ApprovalsFilter, Decision, GrantOptions } from './operator/approvals.ts';
export type { LedgerVerifyOptions } from './operator/ledger-proof.ts';
export { isEnded } from './calls/call-record.ts';
export { connectDevice } from './lending/device.ts';
export type {
  Device,
  DeviceOptions,
  DeviceProblem,
  DeviceState,
  ResultFate,
} from './lending/device-options.ts';
export { Patchboard } from './lending/device-builder.ts';
export type { DeviceBuilder, ToolSpecText } from './lending/device-builder.ts';
export type { OpenSocket, SocketLike } from './lending/device-socket.ts';
export { deviceTool, ToolCallResult } from './lending/device-tool.ts';
export type { DeviceCall, DeviceTool } from './lending/device-tool.ts';
export type { ToolCallHandler } from './lending/device-work.ts';
export type { CallOptions, DryRunOptions, InvokeOptions, ReplayOptions } from './calls/calls.ts';
export type { WaitOptions } from './calls/wait.ts';
export { DECLINE_INPUT, INPUT_RESPONDED } from './calls/input-requests.ts';
export type { InputRequestContext, OnInputRequest } from './calls/input-requests.ts';
export { NetworkError, PatchboardError, TimeoutError, ToolCallFailed } from './errors.ts';
export type { ErrorCode, ErrorFacts, ErrorKind } from './errors.ts';
export {
  isCallProgressEvent,
  isCallStateEvent,
  isInputGivenEvent,
  isInputRequiredEvent,
} from './calls/events.ts';
export type { ConnectionState, EventOptions } from './calls/events.ts';
export type { Grants } from './operator/grants.ts';
export type { RequestOptions } from './http/http.ts';
export type { BackupDownload } from './operator/backup.ts';
export type { Keys, NewKey } from './operator/keys.ts';
export type { DevicesFilter } from './operator/devices.ts';
export type { CallsFilter, LedgerFilter } from './calls/lists.ts';
export type { CompletionQuestion, Resources, ResourcesFilter } from './calls/resources.ts';
export type { PromptQuestion, RunReplyOptions } from './calls/model-replies.ts';
export {
  audioBlock,
  content,
  contentText,
  imageBlock,
  isContentValue,
  resourceBlock,
} from '@patchboard/wire';
export type { ContentValue, ResultBlock } from '@patchboard/wire';
export { createToolCalling } from './calls/tool-calling.ts';
export type {
  BeforeExecute,
  ToolCallConfig,
  ToolCallCycle,
  ToolCalling,
  ToolCallingOptions,
} from './calls/tool-calling.ts';
export { toolResultOf } from './calls/tool-result.ts';
export type { ClientOptions, RetryOptions } from './http/options.ts';
export type { OutboxStorage } from './lending/outbox.ts';
export type { Page, Pages } from './http/pages.ts';
export type { Tenants, TenantSaid } from './operator/tenants.ts';
export type { Policy, PolicyQuestion, ReplacePolicyOptions } from './operator/policy.ts';
export type { RequestInput } from './lending/device-inputs.ts';
export type { LentInputOptions } from './lending/input-polling.ts';
export type { LentInputRequest } from './lending/input-request.ts';
export type { AttemptOptions, ProvidedTool, Provider, Submission } from './lending/provider.ts';
export type { CreateRunOptions, ListRunsOptions, RunPage, RunPageOptions, Runs } from './calls/runs.ts';
export type { CallMetricsOptions, RefusedCallsFilter } from './calls/searches.ts';
export type { Sessions } from './operator/sessions.ts';
export type { BodyReader, ClientClock, FetchInit, FetchLike, FetchResponse } from './http/runtime.ts';
