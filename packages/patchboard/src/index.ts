/** What embedders use: the server, and what a pack is made of. */
export { resolveSettings } from './cli/settings.ts';
export type { ServeFlags, Settings } from './cli/settings.ts';
export { failure, ToolFailure } from './core/failures.ts';
export type { Failure } from './core/failures.ts';
export type { Pack, ServerTool, ToolContext } from './core/server-tool.ts';
export { startPlatform } from './platform.ts';
export type { Platform, PlatformParts } from './platform.ts';
export { pinoLog } from './runtime/log.ts';
