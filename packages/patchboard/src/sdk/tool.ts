import { reason, type JsonSchema, type Reason } from '@patchboard/wire';
import type { z } from 'zod';
import type { AgentHooks } from './agent-hooks.ts';
import type { ToolContext } from '../core/tools/server-tool.ts';
import { andThen } from '../core/maybe-promise.ts';
import type { ToolDefinition, ToolMetadata } from './tool-definition.ts';
import { shown } from './shape.ts';
import { checkName } from './tool-name.ts';
import { checkOptions } from './tool-shape.ts';
import { zodParser } from './zod-parser.ts';
import { isZodSchema, zodToJsonSchema, type ZodSchema } from './zod-schema.ts';

type AnySchema = ZodSchema | Exclude<JsonSchema, boolean>;

/** The type of validated arguments: the output of a zod schema, or a record with unknown members for a JSON Schema. */
type ArgsOf<Schema> = Schema extends ZodSchema ? z.core.output<Schema> : Record<string, unknown>;

export interface ToolOptions<Schema extends AnySchema, Result> {
  readonly name: string;
  readonly description?: string;
  /** A zod schema or a JSON Schema. Default: any object. */
  readonly parameters?: Schema;
  /** Schema of the result. A result that does not match fails the call. */
  readonly output?: AnySchema;
  readonly metadata?: ToolMetadata;
  readonly hooks?: AgentHooks;
  execute(args: ArgsOf<Schema>, context: ToolContext): Result | Promise<Result>;
}

type Execute<Args, Result> = (args: Args, context: ToolContext) => Result | Promise<Result>;

const ANY_OBJECT: JsonSchema = { type: 'object' };

/** Defines a tool that accepts any object. */
export function tool<Args = Record<string, unknown>, Result = unknown>(
  name: string,
  execute: Execute<Args, Result>,
): ToolDefinition<Args, Result>;
/** Defines a tool with its contract. */
export function tool<Schema extends AnySchema, Result>(
  options: ToolOptions<Schema, Result>,
): ToolDefinition<ArgsOf<Schema>, Result>;
export function tool(
  given: string | ToolOptions<AnySchema, unknown>,
  execute?: Execute<never, unknown>,
): ToolDefinition<never, unknown> {
  if (typeof given !== 'string') return fromOptions(given) as ToolDefinition<never, unknown>;
  checkName(given);
  checkOptions({ name: given, execute });
  const run = execute as Execute<never, unknown>;
  return {
    name: given,
    description: '',
    inputSchema: ANY_OBJECT,
    outputSchema: null,
    metadata: {},
    hooks: null,
    execute: run,
  };
}

function fromOptions(options: ToolOptions<AnySchema, unknown>): ToolDefinition {
  if (typeof options !== 'object' || options === null) {
    const takes = 'a name and a function, or an object with name and execute';
    throw new TypeError(`tool() takes ${takes}; it is ${shown(options)}`);
  }
  checkName(options.name);
  checkOptions(options);
  const { name, description = '', parameters, output, metadata = {}, hooks = null } = options;
  const parse = isZodSchema(parameters) ? zodParser(parameters, argumentProblem) : null;
  return {
    name,
    description,
    inputSchema: parameters === undefined ? ANY_OBJECT : toJsonSchema(parameters, 'input'),
    outputSchema: output === undefined ? null : toJsonSchema(output, 'output'),
    metadata,
    hooks,
    execute: (args, context) =>
      andThen(parse === null ? args : parse(args), (given) =>
        options.execute(given as Record<string, unknown>, context),
      ),
  };
}

function argumentProblem(path: string, problem: Reason): Reason {
  return reason('input_issue', { path, problem: [problem] });
}

function toJsonSchema(schema: AnySchema, io: 'input' | 'output'): JsonSchema {
  return isZodSchema(schema) ? zodToJsonSchema(schema, io) : schema;
}
