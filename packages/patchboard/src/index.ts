/** What embedders use: tools, a board to run them on, agents that use them, and the server. */
import './node-version.ts';
export { AgentError } from './agent/agent-error.ts';
export type { AgentHost } from './agent/agent-host.ts';
export type { AgentReply } from './agent/loop/agent-loop.ts';
export { Agent } from './agent/agent.ts';
export type { SendOptions } from './agent/agent.ts';
export type { BudgetLimits } from './agent/loop/budget.ts';
export type { Conversation, Dialect, Reply, ReplyReader, ToolRequest } from './agent/dialects/dialect.ts';
export type { PictureParts } from './agent/dialects/result-output.ts';
export type { SubscribeOptions } from './agent/events/event-log.ts';
export type {
  AgentEvent,
  AgentEventBase,
  AgentEventBody,
  AgentEventOf,
  AgentEventType,
  AgentState,
  Channel,
  Usage,
} from './agent/events/events.ts';
export type {
  ContentPart,
  FunctionTool,
  KnownPart,
  LanguageModel,
  ModelPart,
  ModelRequest,
  ModelSettings,
  PromptMessage,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from './agent/loop/model.ts';
export { nativeDialect } from './agent/dialects/native-dialect.ts';
export type { AgentOptions, StopCondition } from './agent/options.ts';
export type { AgentPermission } from './agent/permission.ts';
export { executeToolRequests } from './agent/text-cycle/execute-requests.ts';
export type { ExecuteOptions } from './agent/text-cycle/execute-requests.ts';
export { textDialect } from './agent/dialects/text-dialect.ts';
export {
  formatResultsForContext,
  parseToolRequests,
  processToolCallCycle,
} from './agent/text-cycle/tool-call-cycle.ts';
export type { ToolCallCycleResult } from './agent/text-cycle/tool-call-cycle.ts';
export { memory, postgres, sqlite } from './board/stores.ts';
export type { BoardStore, PostgresOptions } from './board/stores.ts';
export { createPatchboard } from './board/create-patchboard.ts';
export type { Environment } from './settings/environment.ts';
export { resolveSettings } from './settings/settings.ts';
export type { ServeFlags, Settings } from './settings/settings.ts';
export type { NatsOptions, NatsTls } from './bus/nats-options.ts';
export type { BusSettings } from './settings/bus-settings.ts';
export type { PostgresSettings, StoreSettings } from './settings/store-settings.ts';
export { ToolFailure } from './core/failures.ts';
export type { CodedReason, Failure, FailureExtra, RateRefusal } from './core/failures.ts';
export { failure } from './sdk/failure.ts';
export type { FailureReason } from './sdk/failure.ts';
export type {
  HookCall,
  HookDecision,
  HookReason,
  Hooks as CallHooks,
  PostHookResult,
  ToolOutcome,
} from './core/hooks/hooks.ts';
export type { AgentHooks as Hooks } from './sdk/agent-hooks.ts';
export type { CallOrigin } from './transports/tenant-api/tenant-origin.ts';
export type { McpClient } from './transports/shared/mcp-client.ts';
export type { ToolCustomEvent } from './core/call/live-call.ts';
export type { KeyKind } from './core/access/key-index.ts';
export type { Effect, PolicyMode } from './core/access/policy/document.ts';
export type { ArgumentCondition as Predicate } from './core/access/policy/argument-condition.ts';
export type {
  WrittenPermission as PermissionConfig,
  WrittenPolicy as PolicyDocument,
  WrittenRule as PolicyRule,
} from './core/access/policy/written-policy.ts';
export type { Credential, Principal } from './core/access/principal.ts';
export type { Rates } from './core/access/rate-limits.ts';
export type { Scope } from './core/access/scopes.ts';
export type { TenantLimits, TenantSettings } from './core/access/tenant-directory.ts';
export type { Allowance, Rate } from './core/access/token-buckets.ts';
export type { Limits } from './core/limits.ts';
export type { Log, Validator } from './core/ports.ts';
export type {
  ExecOptions,
  ExecResult,
  FileChange,
  FileContent,
  FileVersion,
  FolderEntry,
  GlobAnswer,
  GlobQuery,
  GrepAnswer,
  GrepMatch,
  GrepQuery,
  JobLog,
  LogOptions,
  ReadOptions,
  Sandbox,
  WorkspaceFiles,
} from './core/sandbox.ts';
export type { AgentHandle, StopReason, SubTask, SubTaskReply } from './core/agent-handle.ts';
export type {
  AssistantMessage,
  ContentBlock,
  Json,
  Message,
  ProviderMetadata,
  ReasoningBlock,
  TextBlock,
  ToolCallNote,
  ToolCallRequested,
  ToolResultBlock,
  ToolUseBlock,
  UserMessage,
} from './protocols/messages.ts';
export type {
  ContentOf,
  InputRequest,
  InputRequired,
  InputResponse,
  LibrarySchema,
} from './core/call/input.ts';
export type { SamplingParams } from './core/call/input-kinds.ts';
export type { ContractChange, RegisteredTool, RunsOn } from './core/tools/registered-tool.ts';
export type {
  Completer,
  Prompt,
  PromptArgument,
  PromptContext,
  PromptResult,
  ReadResult,
  Resource,
  ResourceContent,
  ResourceContext,
  ResourceFollower,
  ResourceKeys,
  ResourceSet,
  ResourceSource,
  ResourceTemplate,
} from './core/resources/resource.ts';
export type { Completion, CompletionRequest } from './core/resources/completion.ts';
export type { Contents, PromptMessages } from './core/resources/contents.ts';
export type {
  Pack,
  ReadSchema,
  ServerTool,
  ToolContext,
  ToolFollower,
  ToolSource,
} from './core/tools/server-tool.ts';
export type { ModuleWarning } from './protocols/method-contract.ts';
export type {
  MethodMetadata,
  MethodOrigin,
  MethodParameter,
  ShownMethod,
  ToolDefinitionInput,
  ToolModule,
} from './protocols/tool-module.ts';
export type { ToolServices } from './core/workspaces.ts';
export type { FilePool, Todo, TodoService } from './packs/workspace/services.ts';
export type { Faces, ListeningApis } from './wiring/apis.ts';
export type { HttpOptions } from './wiring/mounted-apis.ts';
export type { PackDefinition, PackSurroundings } from './wiring/pack-modules.ts';
export type {
  BoardKeyOptions,
  BoardOptions,
  CallOptions,
  InvokeOptions,
  Patchboard,
  ToolFilter,
} from './board/board-types.ts';
export type { BoardUpstreams } from './board/board-upstreams.ts';
export type {
  McpUpstreamConfig,
  OAuthConfig,
  OpenApiConfig,
  SecurityConfig,
  UpstreamsConfig,
} from './settings/upstream-config.ts';
export type {
  ContractChangeView,
  RejectedTool,
  UpstreamStateName,
  UpstreamToolView,
  UpstreamView,
} from '@patchboard/wire';
export type { BoardResources, ReadOptions as ResourceReadOptions } from './board/board-resources.ts';
export type { InternalKey } from './identity/internal-keys.ts';
export type { McpSettings } from './transports/mcp-server/mcp-settings.ts';
export type { OnChange, UpstreamSettings } from './core/upstreams/upstream.ts';
export type { UpstreamsSettings } from './settings/read-upstreams.ts';
export type {
  HttpTransportSettings,
  McpUpstreamSettings,
  StdioTransportSettings,
} from './sources/mcp/mcp-upstream-settings.ts';
export type { OpenApiSettings, SecuritySettings } from './sources/openapi/openapi-settings.ts';
export type {
  ClientCredentialsSettings,
  OAuthSettings,
  PrivateKeyJwtSettings,
} from './sources/shared/oauth-settings.ts';
export type { JwtSettings } from './identity/jwt-identity.ts';
export type { CanaryResult } from './sandbox/canary.ts';
export type { CommandLimits } from './sandbox/enclosure.ts';
export type { ProbeReport } from './sandbox/probe.ts';
export { startPlatform } from './wiring/platform.ts';
export type { Platform, PlatformParts } from './wiring/platform.ts';
export { createToolDiscoveryService } from './protocols/discovery.ts';
export type {
  DiscoverySource,
  MethodFilter,
  PromptOptions,
  ToolDiscoveryService,
} from './protocols/discovery.ts';
export type {
  ParsedToolRequest,
  ParseError,
  ParseErrorCode,
  ReplyItem,
  ToolCallingProtocol,
  ToolExecutionResult,
} from './protocols/protocol.ts';
export { PROTOCOL_IDS, protocolOf } from './protocols/protocols.ts';
export type { ProtocolId } from './protocols/protocols.ts';
export { DEFAULT_TOOL_CALL_CONFIG } from './protocols/tool-call-config.ts';
export type { ToolCallConfig } from './protocols/tool-call-config.ts';
export { formatRequest } from '@patchboard/wire/vcp';
export type { RequestToWrite } from '@patchboard/wire/vcp';
export { pinoLog } from './runtime/log.ts';
export type { LogLevel } from './runtime/log.ts';
export { BoardError } from './sdk/board-error.ts';
export type { DecideOptions } from './sdk/decide-options.ts';
export { fromAiSdkTools } from './sdk/from-ai-sdk-tools.ts';
export type { GivenAiSdkTool } from './sdk/from-ai-sdk-tools.ts';
export { AiSdkToolError, toAiSdkTools } from './sdk/to-ai-sdk-tools.ts';
export type {
  AiSdkBoard,
  AiSdkOutput,
  AiSdkSchema,
  AiSdkTool,
  AiSdkToolOptions,
} from './sdk/to-ai-sdk-tools.ts';
export { inputRequired } from './sdk/input-required.ts';
export type { InputRequiredOptions } from './sdk/input-required.ts';
export { LANGUAGES } from './sdk/advice.ts';
export type { Language } from './sdk/advice.ts';
export type { ToolCallApproval, ToolCallAuditEntry, ToolCallRecord } from './sdk/tool-call-record.ts';
export type {
  OnInputRequest,
  PendingInputRequest,
  RespondInputOptions,
  ToolCallInput,
  ToolCallInputRequest,
} from './sdk/tool-call-input.ts';
export { DECLINE_INPUT } from './sdk/tool-call-input.ts';
export { toSnapshot } from './sdk/tool-call-snapshot.ts';
export type { ToolCallSnapshot } from './sdk/tool-call-snapshot.ts';
export type { ToolDefinition, ToolMetadata } from './sdk/tool-definition.ts';
export { toolError } from './sdk/tool-error.ts';
export type { ToolError } from './sdk/tool-error.ts';
export type { AnyTool, MadeTool, ToolInstance } from './sdk/tool-instance.ts';
export { ResourceRegistry } from './sdk/resource-registry.ts';
export { globalToolRegistry, ToolRegistry } from './sdk/tool-registry.ts';
export type { RegisterOptions, ToolEntry } from './sdk/tool-registry.ts';
export { refusedToolResult, toToolResult, truncateForModel } from './sdk/tool-result.ts';
export type { ToolResultOptions, TruncatedResult } from './sdk/tool-result.ts';
export type {
  SandboxReport,
  WorkbenchSettings,
  WorkspaceSettings,
  WorkspaceOptions,
} from './wiring/sandbox-setup.ts';
export {
  audioBlock,
  content,
  contentText,
  imageBlock,
  isContentValue,
  resourceBlock,
} from '@patchboard/wire';
export { tool } from './sdk/tool.ts';
export type { ToolOptions } from './sdk/tool.ts';
export type { ZodSchema } from './sdk/zod-schema.ts';
export type {
  AudioResult,
  CallStateName as ToolCallState,
  ContentValue,
  FailureCode,
  ImageResult,
  InputAction,
  InputKind,
  InputIssueView,
  JsonSchema,
  LinkResult,
  OutcomeKnowledge,
  PredicateView,
  PromptMessageView,
  ReasonParam,
  ReasonView,
  ResourceResult,
  ResultBlock,
  SandboxName,
  TextResult,
  ToolAnnotations,
  ToolCallConfigView,
  ToolSourceName,
  ContractDifference,
  UpstreamKind,
} from '@patchboard/wire';
