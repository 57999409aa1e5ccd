import { reason, type JsonSchema, type Reason } from '@patchboard/wire';
import { isRecord } from '../core/json/is-record.ts';
import { coerceArguments, problemsIn, type Coerced, type CoercedArgument } from './coerce.ts';
import { stripInjectedNulls } from './openai/injected-nulls.ts';
import type { ParsedToolRequest, ToolCallingProtocol } from './protocol.ts';

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
  /** What does not fit. Empty: go on. */
  readonly problems: readonly Reason[];
  /** What was left out. */
  readonly warnings: readonly Reason[];
}

/** The name under which a request asks for its tool, where the two halves are written apart. */
export function askedName({ toolName, command }: ParsedToolRequest): string {
  return command === undefined ? toolName : `${toolName}_${command.trim()}`;
}

/** Undefined: no such tool. A tool that has the whole name wins, and then `command` is an argument like any other. */
export function resolveRequest<Tool extends KnownTool>(
  { replies }: Pick<ToolCallingProtocol, 'replies'>,
  request: ParsedToolRequest,
  find: FindTool<Tool>,
): ResolvedRequest<Tool> | undefined {
  const { toolName, command, args, meta = {} } = request;
  const read = replies === 'text' ? coerceArguments : asSent;
  const whole = find(toolName);
  if (whole !== undefined)
    return fitted(whole, command === undefined ? args : { ...args, command }, meta, read);
  const pair = command === undefined ? undefined : find(askedName(request));
  return pair === undefined ? undefined : fitted(pair, args, meta, read);
}

/** What a request asks for, whether or not there is such a tool. */
export interface AskedCall<Tool extends KnownTool = KnownTool> extends Pick<
  ResolvedRequest,
  'args' | 'problems'
> {
  readonly tool: Tool | undefined;
  readonly toolName: string;
}

export function askedCall<Tool extends KnownTool>(
  protocol: Pick<ToolCallingProtocol, 'replies'>,
  request: ParsedToolRequest,
  find: FindTool<Tool>,
): AskedCall<Tool> {
  const resolved = resolveRequest(protocol, request, find);
  if (resolved === undefined)
    return { tool: undefined, toolName: askedName(request), args: request.args, problems: [] };
  const { tool, args, problems } = resolved;
  return { tool, toolName: tool.name, args, problems };
}

/** JSON has types of its own: what does not fit is for the engine to say. */
function asSent(schema: JsonSchema, args: Readonly<Record<string, unknown>>): Coerced {
  return { args: stripInjectedNulls(schema, args) as Record<string, unknown>, report: [] };
}

function fitted<Tool extends KnownTool>(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, string>>,
  read: typeof coerceArguments,
): ResolvedRequest<Tool> {
  const isParameter = (name: string): boolean =>
    !Object.hasOwn(args, name) && hasProperty(tool.inputSchema, name);
  const used = Object.entries(meta).filter(([name]) => isParameter(name));
  const unused = Object.keys(meta).filter((name) => !isParameter(name));
  const coerced = read(tool.inputSchema, { ...args, ...Object.fromEntries(used) });
  return {
    tool,
    ...coerced,
    problems: problemsIn(coerced),
    warnings: unused.map((key) => reason('key_unused', { key, tool: tool.name })),
  };
}

function hasProperty(schema: JsonSchema, name: string): boolean {
  if (typeof schema === 'boolean') return false;
  return isRecord(schema['properties']) && Object.hasOwn(schema['properties'], name);
}
