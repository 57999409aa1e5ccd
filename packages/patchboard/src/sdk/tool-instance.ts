import type { JsonSchema } from '@patchboard/wire';
import type { AgentHooks } from './agent-hooks.ts';
import type { ServerTool, ToolContext } from '../core/tools/server-tool.ts';
import { readInputSchema } from './input-required.ts';
import { shown } from './shape.ts';
import { checkDefinition, checkInstance } from './tool-shape.ts';
import { annotationsOf, type ToolDefinition, type ToolMetadata } from './tool-definition.ts';

/** A tool written as an object or a class instance. */
export interface ToolInstance {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
  readonly hooks?: AgentHooks;
  readonly metadata?: ToolMetadata;
  exec(args: never, context: ToolContext): unknown;
}

/** A tool in either form, or a factory of one. */
export type AnyTool =
  ToolDefinition<never, unknown> | ToolInstance | (() => ToolDefinition<never, unknown> | ToolInstance);

/** @deprecated Use `ToolEntry['tool']`. */
export type MadeTool = Exclude<AnyTool, () => unknown>;

const DEFAULT_TIMEOUT_MS = 30_000;

/** Calls a factory and validates the tool. Throws `TypeError` if it is invalid. */
export function makeTool(given: AnyTool): ToolDefinition<never, unknown> | ToolInstance {
  if (isClass(given)) throw new TypeError(`${given.name} is a class: pass an instance, new ${given.name}()`);
  const made: unknown = typeof given === 'function' ? given() : given;
  if (typeof made !== 'object' || made === null || !('exec' in made || 'execute' in made)) {
    const forms = 'a tool is made by tool(), or has name, description, input_schema and exec()';
    throw new TypeError(`${forms}; it is ${shown(made)}`);
  }
  if ('exec' in made) {
    checkInstance(made as ToolInstance);
    return made as ToolInstance;
  }
  const definition = made as ToolDefinition<never, unknown>;
  checkDefinition(definition);
  return definition;
}

function isClass(given: unknown): boolean {
  return typeof given === 'function' && /^class\b/.test(Function.prototype.toString.call(given));
}

/** Converts either form to a server tool. */
export function toServerTool(made: ToolDefinition<never, unknown> | ToolInstance): ServerTool {
  return fromDefinition('exec' in made ? fromInstance(made) : made);
}

function fromInstance(instance: ToolInstance): ToolDefinition<never, unknown> {
  return {
    name: instance.name,
    description: instance.description,
    inputSchema: instance.input_schema,
    outputSchema: null,
    metadata: instance.metadata ?? {},
    hooks: instance.hooks ?? null,
    execute: (args, context) => instance.exec(args, context),
  };
}

function fromDefinition(definition: ToolDefinition<never, unknown>): ServerTool {
  const { name, description, inputSchema, outputSchema, metadata, hooks } = definition;
  const { timeout = DEFAULT_TIMEOUT_MS, concurrent = true, cacheTtl, task } = metadata;
  return {
    name,
    description,
    inputSchema,
    outputSchema,
    timeoutMs: timeout,
    annotations: annotationsOf(metadata),
    metadata: { ...publicMetadata(metadata), ...definition.origin },
    concurrency: concurrent ? null : 1,
    ...(cacheTtl === undefined ? {} : { cacheTtlMs: cacheTtl }),
    ...(task === undefined ? {} : { task }),
    hooks,
    readSchema: readInputSchema,
    execute: (args, context) => definition.execute(args as never, context),
  };
}

/** The metadata that appears in tool lists. `ai_callable` and `requires_auth` are also enforced. */
function publicMetadata({
  version,
  tags,
  category,
  aiCallable,
  requiresAuth,
}: ToolMetadata): Record<string, unknown> {
  const all = { version, tags, category, ai_callable: aiCallable, requires_auth: requiresAuth };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
