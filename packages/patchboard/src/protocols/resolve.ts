import type { JsonSchema } from '@patchboard/wire';
import { coerceArguments, problemsIn, type CoercedArgument } from './coerce.ts';
import type { ParsedToolRequest } from './protocol.ts';
import { isRecord } from './schema-facts.ts';

/** What of a tool is needed to understand a request for it. */
export interface KnownTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
}

/** By any name the tool goes by. */
export type FindTool<Tool extends KnownTool = KnownTool> = (name: string) => Tool | undefined;

/** A request of which the tool is known, with arguments as its schema wants them. */
export interface ResolvedRequest<Tool extends KnownTool = KnownTool> {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly report: readonly CoercedArgument[];
  /** What does not fit, in words for the model. Empty: go on. */
  readonly problems: readonly string[];
  /** What was left out. */
  readonly warnings: readonly string[];
}

/** The name under which a request asks for its tool, where the two halves are written apart. */
export function askedName({ toolName, command }: ParsedToolRequest): string {
  return command === undefined ? toolName : `${toolName}_${command.trim()}`;
}

/** Undefined: no such tool. A tool that has the whole name wins, and then `command` is an argument like any other. */
export function resolveRequest<Tool extends KnownTool>(
  request: ParsedToolRequest,
  find: FindTool<Tool>,
): ResolvedRequest<Tool> | undefined {
  const { toolName, command, args } = request;
  const whole = find(toolName);
  if (whole !== undefined) {
    const given = command === undefined ? args : { ...args, command };
    return fitted(whole, given, request.meta ?? {});
  }
  const pair = command === undefined ? undefined : find(askedName(request));
  return pair === undefined ? undefined : fitted(pair, args, request.meta ?? {});
}

function fitted<Tool extends KnownTool>(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, string>>,
): ResolvedRequest<Tool> {
  const isParameter = (name: string): boolean =>
    !Object.hasOwn(args, name) && hasProperty(tool.inputSchema, name);
  const used = Object.entries(meta).filter(([name]) => isParameter(name));
  const unused = Object.keys(meta).filter((name) => !isParameter(name));
  const coerced = coerceArguments(tool.inputSchema, { ...args, ...Object.fromEntries(used) });
  return {
    tool,
    ...coerced,
    problems: problemsIn(coerced),
    warnings: unused.map((name) => `"${name}" is not used by ${tool.name}`),
  };
}

function hasProperty(schema: JsonSchema, name: string): boolean {
  if (typeof schema === 'boolean') return false;
  return isRecord(schema['properties']) && Object.hasOwn(schema['properties'], name);
}
