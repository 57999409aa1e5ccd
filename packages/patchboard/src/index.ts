/** What embedders use: tools, a board to run them on, and the server. */
export { BoardError, createPatchboard, memory, sqlite } from './board.ts';
export type { BoardOptions, BoardStore, CallOptions, Patchboard } from './board.ts';
export { resolveSettings } from './cli/settings.ts';
export type { ServeFlags, Settings } from './cli/settings.ts';
export { failure, ToolFailure } from './core/failures.ts';
export type { Failure } from './core/failures.ts';
export type { HookCall, HookDecision, Hooks, PostHookResult } from './core/hooks.ts';
export type { Pack, ServerTool, ToolContext } from './core/server-tool.ts';
export type { Faces } from './faces.ts';
export { startPlatform } from './platform.ts';
export type { Platform, PlatformParts } from './platform.ts';
export { pinoLog } from './runtime/log.ts';
export type { ToolCallApproval, ToolCallAuditEntry, ToolCallRecord } from './sdk/tool-call-record.ts';
export type { ToolDefinition, ToolMetadata } from './sdk/tool-definition.ts';
export type { AnyTool, ToolInstance } from './sdk/tool-instance.ts';
export { tool } from './sdk/tool.ts';
export type { ToolOptions } from './sdk/tool.ts';
