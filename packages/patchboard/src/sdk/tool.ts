import { reason, type JsonSchema } from '@patchboard/wire';
import { z } from 'zod';
import { failure, foreignText, ToolFailure } from '../core/failures.ts';
import type { AgentHooks } from './agent-hooks.ts';
import type { ToolContext } from '../core/tools/server-tool.ts';
import { andThen } from '../core/maybe-promise.ts';
import type { ToolDefinition, ToolMetadata } from './tool-definition.ts';
import { shown } from './shape.ts';
import { checkName } from './tool-name.ts';
import { checkOptions } from './tool-shape.ts';
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
  const parse = isZodSchema(parameters) ? parserOf(parameters) : null;
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

/**
 * The engine has validated the JSON; zod fills in defaults and checks what JSON Schema cannot express.
 * Parses synchronously where possible; after the first failure to do so, always asynchronously.
 */
function parserOf(schema: ZodSchema): (args: unknown) => unknown {
  let isAsync = false;
  return (args) => {
    if (isAsync) return z.core.safeParseAsync(schema, args).then(dataOf);
    try {
      return dataOf(z.core.safeParse(schema, args));
    } catch (error) {
      if (error instanceof ToolFailure) throw error;
      // Any other error may mean an async schema: another copy of zod throws its own error class for that.
      isAsync = true;
      return z.core.safeParseAsync(schema, args).then(dataOf);
    }
  };
}

function dataOf(parsed: z.core.util.SafeParseResult<unknown>): unknown {
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => ({
    path: path.map((key) => `/${String(key)}`).join(''),
    message,
  }));
  const [first] = issues;
  const problem = [first === undefined ? reason('arguments_mismatch') : foreignText(first.message)];
  const why = reason('input_issue', { path: first?.path ?? '', problem });
  throw new ToolFailure(failure('input_invalid', why, { issues }));
}

function toJsonSchema(schema: AnySchema, io: 'input' | 'output'): JsonSchema {
  return isZodSchema(schema) ? zodToJsonSchema(schema, io) : schema;
}
