import type { JsonSchema } from '@patchboard/wire';
import { z } from 'zod';
import { failure, ToolFailure } from '../core/failures.ts';
import type { Hooks } from '../core/steps/hooks.ts';
import type { ToolContext } from '../core/tools/server-tool.ts';
import { soon } from '../core/soon.ts';
import type { ToolDefinition, ToolMetadata } from './tool-definition.ts';
import { shown } from './shape.ts';
import { checkName } from './tool-name.ts';
import { checkOptions } from './tool-shape.ts';
import { isZodSchema, zodToJsonSchema, type ZodSchema } from './zod-schema.ts';

type AnySchema = ZodSchema | Exclude<JsonSchema, boolean>;

/** What the arguments are once they have passed: typed by a zod schema, unknown members by a JSON Schema. */
type ArgsOf<Schema> = Schema extends ZodSchema ? z.core.output<Schema> : Record<string, unknown>;

export interface ToolOptions<Schema extends AnySchema, Result> {
  readonly name: string;
  readonly description?: string;
  /** A zod schema or a JSON Schema. Default: any object. */
  readonly parameters?: Schema;
  /** What the result must fit; a result that does not is a failure. */
  readonly output?: AnySchema;
  readonly metadata?: ToolMetadata;
  readonly hooks?: Hooks;
  execute(args: ArgsOf<Schema>, context: ToolContext): Result | Promise<Result>;
}

type Execute<Args, Result> = (args: Args, context: ToolContext) => Result | Promise<Result>;

const ANY_OBJECT: JsonSchema = { type: 'object' };

/** A tool in one line: any object is accepted. */
export function tool<Args = Record<string, unknown>, Result = unknown>(
  name: string,
  execute: Execute<Args, Result>,
): ToolDefinition<Args, Result>;
/** A tool with its contract. */
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
      soon(parse === null ? args : parse(args), (given) =>
        options.execute(given as Record<string, unknown>, context),
      ),
  };
}

/**
 * The engine has validated the JSON; zod fills in defaults and checks what JSON Schema cannot say.
 * Most schemas answer at once; one that cannot is asked to take its time from then on.
 */
function parserOf(schema: ZodSchema): (args: unknown) => unknown {
  let takesTime = false;
  return (args) => {
    if (takesTime) return z.core.safeParseAsync(schema, args).then(dataOf);
    try {
      return dataOf(z.core.safeParse(schema, args));
    } catch (error) {
      if (error instanceof ToolFailure) throw error;
      // Whatever else it is: another copy of zod says with an error of its own that it takes time.
      takesTime = true;
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
  throw new ToolFailure(
    failure('input_invalid', `args${first?.path ?? ''} ${first?.message ?? 'do not fit'}`, { issues }),
  );
}

function toJsonSchema(schema: AnySchema, io: 'input' | 'output'): JsonSchema {
  return isZodSchema(schema) ? zodToJsonSchema(schema, io) : schema;
}
