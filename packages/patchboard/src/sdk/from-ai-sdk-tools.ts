import { reason, type JsonSchema, type Reason } from '@patchboard/wire';
import { failure, foreignText, ToolFailure } from '../core/failures.ts';
import type { AgentHooks } from './agent-hooks.ts';
import type { ToolContext } from '../core/tools/server-tool.ts';
import type { ToolDefinition } from './tool-definition.ts';
import { isZodSchema, zodToJsonSchema, type ZodSchema } from './zod-schema.ts';

/** A tool of the AI SDK, typed only by what is used here: `tool({…})` and `dynamicTool({…})` of `ai` are compatible. */
export interface GivenAiSdkTool {
  readonly description?: unknown;
  readonly inputSchema: unknown;
  readonly execute?: unknown;
  readonly needsApproval?: unknown;
}

type Execute = (input: unknown, options: Record<string, unknown>) => unknown;
type Parse = (value: unknown) => Promise<Parsed>;
type Parsed =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: Reason };

interface ReadSchema {
  readonly json: JsonSchema;
  readonly parse: Parse;
}

/**
 * Converts tools of the AI SDK to board tools with the same names. `needsApproval` becomes a required approval.
 * Throws for a tool without `execute`, because a board cannot run it.
 */
export async function fromAiSdkTools(
  tools: Readonly<Record<string, GivenAiSdkTool>>,
): Promise<readonly ToolDefinition<never, unknown>[]> {
  return await Promise.all(Object.entries(tools).map(([name, given]) => fromAiSdkTool(name, given)));
}

async function fromAiSdkTool(name: string, given: GivenAiSdkTool): Promise<ToolDefinition<never, unknown>> {
  const { description, execute, needsApproval } = given;
  if (typeof execute !== 'function')
    throw new TypeError(`the tool ${name} has no execute: a board cannot run it`);
  const { json, parse } = await readSchema(name, given.inputSchema);
  return {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema: json,
    outputSchema: null,
    metadata: needsApproval === true ? { requiresApproval: true } : {},
    hooks: typeof needsApproval === 'function' ? approvalHooks(needsApproval as Execute, parse) : null,
    execute: async (args, context) => {
      const parsed = await parse(args);
      if (!parsed.ok) throw notParsed(parsed.problem);
      return await lastOf((execute as Execute)(parsed.value, optionsOf(context)), context);
    },
  };
}

function notParsed(problem: Reason): ToolFailure {
  return new ToolFailure(failure('input_invalid', reason('input_issue', { path: '', problem: [problem] })));
}

/** `found`: what the schema library reported. */
function problemOf(found: { readonly message: string } | undefined): Reason {
  return found === undefined ? reason('arguments_mismatch') : foreignText(found.message);
}

/** As in the AI SDK, the function gets what `execute` gets: the input as the schema parsed it, defaults included. */
function approvalHooks(needsApproval: Execute, parse: Parse): AgentHooks {
  return {
    preToolUse: async (call) => {
      const parsed = await parse(call.args);
      // The tool does not run either: its call fails with the problem.
      if (!parsed.ok) return undefined;
      const options = { toolCallId: call.id, messages: [], context: undefined };
      return (await needsApproval(parsed.value, options)) === true ? { decision: 'ask' } : undefined;
    },
  };
}

function optionsOf({ callId, signal }: ToolContext): Record<string, unknown> {
  return { toolCallId: callId, messages: [], abortSignal: signal, context: undefined };
}

/** A tool may return an async iterable of preliminary results; the last one is the result. */
async function lastOf(returned: unknown, context: ToolContext): Promise<unknown> {
  if (typeof returned !== 'object' || returned === null || !(Symbol.asyncIterator in returned))
    return await returned;
  let last: unknown;
  for await (const value of returned as AsyncIterable<unknown>) {
    last = value;
    context.progress(value);
  }
  return last;
}

/** Reads every form of schema that the AI SDK accepts. */
async function readSchema(name: string, given: unknown): Promise<ReadSchema> {
  const schema: unknown = typeof given === 'function' ? (given as () => unknown)() : given;
  if (isZodSchema(schema)) return fromZod(schema);
  if (typeof schema === 'object' && schema !== null) {
    if ('jsonSchema' in schema) return await fromAiSdkSchema(schema as AiSdkSchemaObject);
    if ('~standard' in schema) return fromStandard(name, schema as StandardSchema);
  }
  throw new TypeError(
    `the tool ${name} has an input schema that is neither zod 4, jsonSchema() nor Standard Schema`,
  );
}

function fromZod(schema: ZodSchema): ReadSchema {
  const json = zodToJsonSchema(schema, 'input');
  return { json, parse: async (value) => fromStandardResult(await schema['~standard'].validate(value)) };
}

interface AiSdkSchemaObject {
  readonly jsonSchema: JsonSchema | PromiseLike<JsonSchema>;
  readonly validate?: (value: unknown) => unknown;
}

async function fromAiSdkSchema({ jsonSchema, validate }: AiSdkSchemaObject): Promise<ReadSchema> {
  const json = await jsonSchema;
  if (validate === undefined) return { json, parse: (value) => Promise.resolve({ ok: true, value }) };
  const parse: Parse = async (value) => {
    const validated = (await validate(value)) as { success: boolean; value?: unknown; error?: Error };
    return validated.success
      ? { ok: true, value: validated.value }
      : { ok: false, problem: problemOf(validated.error) };
  };
  return { json, parse };
}

interface StandardSchema {
  readonly '~standard': {
    readonly validate: (value: unknown) => unknown;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => JsonSchema };
  };
}

function fromStandard(name: string, { '~standard': standard }: StandardSchema): ReadSchema {
  if (standard.jsonSchema === undefined)
    throw new TypeError(`the input schema of the tool ${name} cannot be written as JSON Schema`);
  const json = standard.jsonSchema.input({ target: 'draft-2020-12' });
  return { json, parse: async (value) => fromStandardResult(await standard.validate(value)) };
}

function fromStandardResult(validated: unknown): Parsed {
  const { issues, value } = validated as { issues?: readonly { message: string }[]; value?: unknown };
  if (issues === undefined) return { ok: true, value };
  return { ok: false, problem: problemOf(issues[0]) };
}
