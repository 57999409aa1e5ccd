import { wireNamesOf, type RegisteredTool } from '../core/tools/registered-tool.ts';
import { originOf, type ShownMethod, type ToolDefinitionInput } from './tool-module.ts';
import type { FindTool } from './resolve.ts';

/** Groups the tools of a registry for a protocol: methods under their module, any other tool by itself. */
export function definitionsOf(tools: readonly RegisteredTool[]): ToolDefinitionInput[] {
  const modules = new Map<string, { toolId: string; toolName: string; methods: ShownMethod[] }>();
  for (const tool of tools) {
    const origin = originOf(tool);
    const toolId = origin?.module ?? tool.name;
    // A tool may have the name of a module, so the key contains the kind.
    const key = `${origin === null ? 'tool' : 'module'} ${toolId}`;
    const shown = modules.get(key) ?? { toolId, toolName: origin?.moduleName ?? tool.name, methods: [] };
    modules.set(key, shown);
    shown.methods.push({
      name: origin?.method ?? tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      agentCallable: true,
      wireName: tool.wireName,
      ...(origin === null
        ? { registeredName: tool.name }
        : { protocolConfig: { vcpCommand: origin.command } }),
    });
  }
  return [...modules.values()];
}

/** Finds a tool by name, wire name, or module and command. Names take precedence over commands. */
export function toolFinder(tools: readonly RegisteredTool[]): FindTool<RegisteredTool> {
  const byCommand = new Map<string, RegisteredTool>();
  const byName = new Map<string, RegisteredTool>();
  for (const tool of tools) {
    const origin = originOf(tool);
    if (origin !== null) byCommand.set(`${origin.module}_${origin.command}`, tool);
    for (const wireName of wireNamesOf(tool)) byName.set(wireName, tool);
  }
  for (const tool of tools) byName.set(tool.name, tool);
  return (name) => byName.get(name) ?? byCommand.get(name);
}
