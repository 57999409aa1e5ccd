import { reason, reasonsText } from '@patchboard/wire';
import type { InputRequest } from '../core/call/input.ts';
import type { AgentHooks } from './agent-hooks.ts';
import {
  anything,
  callable,
  flag,
  must,
  object,
  oneOf,
  text,
  texts,
  wholeNumber,
  type Problem,
  type Rule,
} from './shape.ts';
import type { ToolDefinition, ToolMetadata } from './tool-definition.ts';
import type { ToolInstance } from './tool-instance.ts';
import type { ToolOptions } from './tool.ts';
import { isSchemaOfLibrary, isZodSchema } from './zod-schema.ts';

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const zodOrJsonSchema = must(reason('must_be_zod_or_json_schema'), isObject);
const onlyJsonSchema = must(
  reason('must_be_json_schema'),
  (value) => typeof value === 'boolean' || isObject(value),
);

const schema: Rule = (value, place) =>
  isZodSchema(value) ? null : (zodOrJsonSchema(value, place) ?? unsupportedSchema(value, place));
const jsonSchema: Rule = (value, place) => onlyJsonSchema(value, place) ?? unsupportedSchema(value, place);

function unsupportedSchema(value: unknown, place: string): Problem | null {
  if (!isSchemaOfLibrary(value)) return null;
  return [reason('schema_of_other_library', { place })];
}

const HOOK_NAMES = ['preToolUse', 'postToolUse', 'messagesChanged'] as const;
const plainHooks = object<AgentHooks>({
  preToolUse: callable,
  postToolUse: callable,
  messagesChanged: callable,
});

/** A plain object may have only hooks as members; a class instance may have others too. */
export const hooks: Rule = (value, place) => {
  if (typeof value !== 'object' || value === null || isPlain(value)) return plainHooks(value, place);
  const given = HOOK_NAMES.filter((name) => name in value);
  if (given.length === 0) return [reason('hooks_missing', { place, names: HOOK_NAMES.join(', ') })];
  return plainHooks(Object.fromEntries(given.map((name) => [name, Reflect.get(value, name)])), place);
};

const metadata = object<ToolMetadata>({
  version: text,
  tags: texts,
  category: text,
  aiCallable: flag,
  requiresAuth: flag,
  timeout: wholeNumber(1),
  concurrent: flag,
  readonly: flag,
  destructive: flag,
  idempotent: flag,
  requiresApproval: flag,
  asksInput: flag,
  task: oneOf(['always', 'never']),
  cacheTtl: wholeNumber(1),
});

/** An input request of a tool. */
export const inputRequest: Rule = object<InputRequest<unknown>>({
  message: text,
  schema: (value, place) => (isZodSchema(value) ? null : jsonSchema(value, place)),
  url: text,
  sampling: anything,
  roots: flag,
  handlesDecline: flag,
});

const options = object<ToolOptions<never, unknown>>({
  name: text,
  description: text,
  parameters: schema,
  output: schema,
  metadata,
  hooks,
  execute: callable,
});

/** Validates the options of `tool()`. Throws `TypeError`. */
export function checkOptions(given: { readonly name: string; readonly execute?: unknown }): void {
  refuse(given.name, options(given, '') ?? callable(given.execute, 'execute'));
}

/** Validates a tool written as an object or a class instance. Throws `TypeError`. */
export function checkInstance(given: ToolInstance): void {
  const { name, input_schema, description } = given;
  const own = jsonSchema(input_schema, 'input_schema') ?? text(description, 'description');
  refuse(name, callable(Reflect.get(given, 'exec'), 'exec') ?? own ?? metadataOrHooks(given));
}

/** Validates a definition made by `tool()` or by hand. Throws `TypeError`. */
export function checkDefinition(given: ToolDefinition<never, unknown>): void {
  const { name, inputSchema } = given;
  const run: unknown = Reflect.get(given, 'execute');
  if (inputSchema === undefined) refuse(name, [reason('tool_not_made')]);
  refuse(name, callable(run, 'execute') ?? jsonSchema(inputSchema, 'inputSchema') ?? metadataOrHooks(given));
}

function metadataOrHooks(given: ToolInstance | ToolDefinition<never, unknown>): Problem | null {
  return metadata(given.metadata ?? {}, 'metadata') ?? hooks(given.hooks ?? {}, 'hooks');
}

function refuse(name: string, problem: Problem | null): void {
  if (problem !== null) throw new TypeError(`tool ${name}: ${reasonsText(problem)}`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
