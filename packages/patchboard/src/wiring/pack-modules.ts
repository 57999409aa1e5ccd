import { ConfigError } from '../settings/config-file.ts';
import { messageOf } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';
import type { ResourceSet, ResourceSource } from '../core/resources/resource.ts';
import type { Pack, ServerTool, ToolSource } from '../core/tools/server-tool.ts';
import { makeTool, toServerTool, type AnyTool } from '../sdk/tool-instance.ts';
import { importFile } from '../settings/import-file.ts';

/** Services of the server for a custom pack. */
export interface PackSurroundings {
  /** The data folder, where the pack may store files under unique names. */
  readonly dataFolder: string;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
  /** Returns the site of a tenant that has exactly one, otherwise null. */
  onlySite(tenant: string): string | null;
}

/** The definition of a pack. */
export interface PackDefinition extends ResourceSet {
  readonly name: string;
  readonly tools: readonly (AnyTool | ServerTool)[];
  /** Tools that come and go: a `ToolRegistry`. */
  readonly toolSource?: ToolSource;
  /** Resources, templates and prompts that come and go: a `ResourceRegistry`. */
  readonly resourceSource?: ResourceSource;
  /** If true, only tenants that name the pack have its tools. Default: also every tenant that names no packs. */
  readonly mustBeNamed?: boolean;
  /** Releases the resources of the pack. */
  close?(): Promise<void>;
}

/** Loads the pack modules of the config. Each exports `pack` or a default: a pack, or a function that returns one. */
export async function loadPacks(paths: readonly string[], surroundings: PackSurroundings): Promise<Pack[]> {
  const packs: Pack[] = [];
  try {
    for (const path of paths) packs.push(await loadOne(path, surroundings));
    return packs;
  } catch (error) {
    for (const pack of packs) await pack.close?.();
    throw error;
  }
}

async function loadOne(path: string, surroundings: PackSurroundings): Promise<Pack> {
  let made: unknown;
  try {
    const module = await importFile(path);
    const exported = module['pack'] ?? module['default'];
    made = typeof exported === 'function' ? await (exported as PackFactory)(surroundings) : exported;
  } catch (error) {
    throw new ConfigError(`packs: ${path} cannot be loaded: ${messageOf(error)}`);
  }
  if (!isDefinition(made)) throw new ConfigError(`packs: ${path} exports no pack with a name and tools`);
  try {
    const tools = made.tools.map((tool) => (isServerTool(tool) ? tool : toServerTool(makeTool(tool))));
    return { ...made, tools, ...(made.close === undefined ? {} : { close: () => made.close() }) };
  } catch (error) {
    throw new ConfigError(`packs: ${path} has a tool that cannot be used: ${messageOf(error)}`);
  }
}

type PackFactory = (surroundings: PackSurroundings) => unknown;

function isDefinition(value: unknown): value is PackDefinition & { close(): Promise<void> } {
  if (typeof value !== 'object' || value === null) return false;
  const { name, tools } = value as Record<string, unknown>;
  return typeof name === 'string' && name !== '' && Array.isArray(tools);
}

function isServerTool(tool: AnyTool | ServerTool): tool is ServerTool {
  return typeof tool === 'object' && 'timeoutMs' in tool;
}
