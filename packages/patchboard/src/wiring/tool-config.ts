import type { Pack, ServerTool, ToolSource } from '../core/tools/server-tool.ts';
import type { Settings } from '../settings/settings.ts';

/** The settings of single tools. */
export type ToolSettings = Pick<Settings, 'toolTimeoutsMs' | 'toolCacheMs'>;

/** Applies the time limit and cache lifetime that the config has for the tool. */
export function withToolConfig(tool: ServerTool, { toolTimeoutsMs, toolCacheMs }: ToolSettings): ServerTool {
  const timeoutMs = toolTimeoutsMs.get(tool.name) ?? tool.timeoutMs;
  const cacheTtlMs = toolCacheMs.get(tool.name) ?? tool.cacheTtlMs;
  return { ...tool, timeoutMs, ...(cacheTtlMs === undefined ? {} : { cacheTtlMs }) };
}

/** Applies the settings of single tools to a pack, also to tools that it adds later. */
export function configured(pack: Pack, settings: ToolSettings): Pack {
  const { tools, toolSource: source } = pack;
  const toolSource: ToolSource | undefined = source && {
    follow: (follower) =>
      source.follow({
        ...follower,
        begin: (tool) => follower.begin(withToolConfig(tool, settings)),
        added: (tool) => follower.added(withToolConfig(tool, settings)),
      }),
  };
  return {
    ...pack,
    tools: tools.map((tool) => withToolConfig(tool, settings)),
    ...(toolSource === undefined ? {} : { toolSource }),
  };
}
