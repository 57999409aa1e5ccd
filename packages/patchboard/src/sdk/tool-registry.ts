import { hash } from 'node:crypto';
import { reason, type Reason } from '@patchboard/wire';
import { failure, type Failure } from '../core/failures.ts';
import type { Digest } from '../core/ports.ts';
import type { ServerTool, ToolFollower, ToolSource } from '../core/tools/server-tool.ts';
import { wireNamesOf } from '../core/tools/registered-tool.ts';
import { toEarlierWireName, toWireName } from '../core/tools/tool-names.ts';
import {
  methodsOf,
  type MethodMetadata,
  type ShownMethod,
  type ToolDefinitionInput,
  type ToolModule,
} from '../protocols/tool-module.ts';
import { warningsOf, type ModuleWarning } from '../protocols/method-contract.ts';
import { BoardError } from './board-error.ts';
import { toolsOfModule } from './tools-of-module.ts';
import { checkName } from './tool-name.ts';
import type { ToolDefinition } from './tool-definition.ts';
import { makeTool, toServerTool, type AnyTool, type ToolInstance } from './tool-instance.ts';

export interface RegisterOptions {
  /** A label with which all tools of one source can be unregistered at once. Default `local`. */
  readonly source?: string;
}

/** A registered tool. */
export interface ToolEntry {
  readonly name: string;
  readonly source: string;
  readonly tool: ToolDefinition<never, unknown> | ToolInstance;
}

/** A board or a pack that mirrors the registry. */
export interface RegistryFollower extends ToolFollower {
  /** Called for each warning about a registered module. */
  warned?(warning: ModuleWarning): void;
}

interface StoredEntry extends ToolEntry {
  readonly serverTool: ServerTool;
}

const DIGEST: Digest = { sha256: (text) => hash('sha256', text, 'hex') };

/**
 * The wire names of a set of tools, by the same rule as the registry of a board, so that a board made from the same tools
 * has the same wire names.
 */
class WireNames {
  readonly #byName: Map<string, { readonly wireName: string; readonly earlierWireName: string | null }> =
    new Map();
  readonly #byWireName: Map<string, string> = new Map();

  of(name: string): string | undefined {
    return this.#byName.get(name)?.wireName;
  }

  /** Returns the name of the tool with this wire name or earlier wire name. */
  holder(wireName: string): string | undefined {
    return this.#byWireName.get(wireName);
  }

  add(name: string): void {
    const isFree = (candidate: string): boolean =>
      candidate === name || (!this.#byName.has(candidate) && !this.#byWireName.has(candidate));
    const names = {
      wireName: toWireName(name, isFree, DIGEST),
      earlierWireName: toEarlierWireName(name, isFree, DIGEST),
    };
    this.#byName.set(name, names);
    for (const wireName of wireNamesOf(names)) this.#byWireName.set(wireName, name);
  }

  remove(name: string): void {
    const names = this.#byName.get(name);
    if (names === undefined) return;
    this.#byName.delete(name);
    for (const wireName of wireNamesOf(names)) this.#byWireName.delete(wireName);
  }
}

/**
 * A set of tools that boards and packs are made from. Changes apply to all of them at once. A tool that any of them
 * refuses is not registered.
 */
export class ToolRegistry implements ToolSource {
  readonly #tools: Map<string, StoredEntry> = new Map();
  readonly #wireNames: WireNames = new WireNames();
  readonly #modules: Map<string, ToolModule> = new Map();
  readonly #warnings: Map<string, readonly ModuleWarning[]> = new Map();
  readonly #followers: Set<RegistryFollower> = new Set();
  #version = 0;

  /** Increases with every change. */
  get version(): number {
    return this.#version;
  }

  /** Parts of registered modules that are not understood. Boards log them too. */
  get warnings(): readonly ModuleWarning[] {
    return [...this.#warnings.values()].flat();
  }

  /** Throws `BoardError`: `name_invalid`, `name_taken` or `schema_invalid`. */
  register(tool: AnyTool, options?: RegisterOptions): ToolEntry;
  /** Calls the factory once, immediately. It must return a tool with that name. */
  register(name: string, factory: () => ToolEntry['tool'], options?: RegisterOptions): ToolEntry;
  register(
    given: AnyTool | string,
    second?: RegisterOptions | (() => ToolEntry['tool']),
    third?: RegisterOptions,
  ): ToolEntry {
    if (typeof given !== 'string') return this.#add(makeTool(given), second as RegisterOptions | undefined);
    if (typeof second !== 'function') throw new TypeError(`register('${given}', …) needs a factory`);
    const made = makeTool(second);
    if (made.name !== given)
      throw refused('name_invalid', reason('factory_makes_other', { name: given, made: made.name }));
    return this.#add(made, third);
  }

  /**
   * Registers every method that the module marks as callable as a tool `id_method`, all or none. Whether a method is
   * callable is checked again for every call. Parameters of unknown type accept any value and are listed in `warnings`.
   */
  registerModule<Module extends ToolModule>(
    module: Module,
    options: RegisterOptions = {},
  ): readonly ToolEntry[] {
    const { id } = module;
    const tools = toolsOfModule(module);
    if (this.#modules.has(id)) throw refused('name_taken', reason('module_registered_twice', { id }));
    for (const { name } of tools)
      if (this.#tools.has(name)) throw refused('name_taken', reason('tool_registered_twice', { tool: name }));
    const added: ToolEntry[] = [];
    try {
      for (const tool of tools) added.push(this.#add(tool, options));
    } catch (error) {
      this.#remove(added.map(({ name }) => name));
      throw error;
    }
    this.#modules.set(id, module);
    this.#version += 1;
    this.#warn(module);
    return added;
  }

  unregisterModule(id: string): boolean {
    const names = this.list().flatMap(({ name, tool }) =>
      'origin' in tool && tool.origin?.module === id ? [name] : [],
    );
    this.#remove(names);
    this.#version += 1;
    this.#warnings.delete(id);
    return this.#modules.delete(id);
  }

  /** Returns the current metadata of a module's methods. */
  module(id: string): { readonly methods: readonly MethodMetadata[] } | undefined {
    const module = this.#modules.get(id);
    return module === undefined ? undefined : { methods: methodsOf(module) };
  }

  /** Returns the modules with all of their methods, then the tools that belong to no module. */
  definitions(): ToolDefinitionInput[] {
    const modules = [...this.#modules.values()].map((module) => ({
      toolId: module.id,
      toolName: module.name ?? module.id,
      methods: methodsOf(module).map((method) => this.#named(method, `${module.id}_${method.name}`)),
    }));
    const others = [...this.#tools.values()].filter(
      ({ tool }) => !('origin' in tool) || tool.origin === undefined,
    );
    const tools = others.map(({ name, serverTool: { description, inputSchema } }) => {
      const method = { name, description, inputSchema, agentCallable: true, registeredName: name };
      return { toolId: name, toolName: name, methods: [this.#named(method, name)] };
    });
    return [...modules, ...tools];
  }

  get(name: string): ToolEntry['tool'] | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** Returns the tools in order of registration. */
  list(filter: RegisterOptions = {}): readonly ToolEntry[] {
    const entries = [...this.#tools.values()].map(({ name, source, tool }) => ({ name, source, tool }));
    return filter.source === undefined ? entries : entries.filter(({ source }) => source === filter.source);
  }

  /** Returns false if there is no tool with that name. */
  unregister(name: string): boolean {
    return this.#remove([name]).length > 0;
  }

  /** Unregisters all tools of one source and returns their names. */
  unregisterSource(source: string): readonly string[] {
    return this.#remove(this.list({ source }).map(({ name }) => name));
  }

  /** @internal For boards and packs: reports the current tools and every later change to the follower. Returns a function that stops it. */
  follow(follower: RegistryFollower): () => void {
    for (const { serverTool } of this.#tools.values()) {
      refuseFor(follower, serverTool);
      follower.begin(serverTool);
    }
    for (const warning of this.warnings) follower.warned?.(warning);
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
    };
  }

  #named(method: ShownMethod, name: string): ShownMethod {
    const wireName = this.#wireNames.of(name);
    return wireName === undefined ? method : { ...method, wireName };
  }

  #add(tool: ToolEntry['tool'], { source = 'local' }: RegisterOptions = {}): ToolEntry {
    const { name } = tool;
    checkName(name);
    if (this.#tools.has(name)) throw refused('name_taken', reason('tool_registered_twice', { tool: name }));
    const namesake = this.#wireNames.holder(name);
    if (namesake !== undefined) throw refused('name_taken', reason('name_is_wire_name', { tool: namesake }));
    const serverTool = toServerTool(tool);
    for (const follower of this.#followers) refuseFor(follower, serverTool);
    this.#tools.set(name, { name, source, tool, serverTool });
    this.#wireNames.add(name);
    this.#version += 1;
    for (const follower of this.#followers) follower.added(serverTool);
    return { name, source, tool };
  }

  #warn(module: ToolModule): void {
    const callable = methodsOf(module).filter(({ agentCallable }) => agentCallable === true);
    const warnings = callable.flatMap((method) => warningsOf(module.id, method));
    if (warnings.length === 0) return;
    this.#warnings.set(module.id, warnings);
    for (const follower of this.#followers) for (const warning of warnings) follower.warned?.(warning);
  }

  #remove(names: readonly string[]): readonly string[] {
    const removed = names.filter((name) => this.#tools.delete(name));
    for (const name of removed) this.#wireNames.remove(name);
    this.#version += removed.length;
    if (removed.length > 0) for (const follower of this.#followers) follower.removed(removed);
    return removed;
  }
}

/** A registry for the whole process. It is empty unless the program registers tools in it. */
export const globalToolRegistry: ToolRegistry = new ToolRegistry();

function refuseFor(follower: RegistryFollower, tool: ServerTool): void {
  const problem = follower.problemWith(tool);
  if (problem !== null) throw new BoardError(problem);
}

function refused(code: Failure['code'], why: Reason): BoardError {
  return new BoardError(failure(code, why));
}
