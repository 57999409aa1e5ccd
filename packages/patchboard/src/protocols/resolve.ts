import { reason, type JsonSchema, type Reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { coerceArguments, problemsIn, type Coerced, type CoercedArgument } from './coerce.ts';
import { stripInjectedNulls } from './openai/injected-nulls.ts';
import type { ParsedToolRequest, ToolCallingProtocol } from './protocol.ts';

/** The parts of a tool that are needed to resolve a request. */
export interface KnownTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  /** Renames aliases of parameters to the schema's names; null or absent: there are none. */
  readonly spell?: ((args: unknown) => unknown) | null;
}

/** Finds a tool by its name, wire name, or module and command. */
export type FindTool<Tool extends KnownTool = KnownTool> = (name: string) => Tool | undefined;

/** A request with its tool, and with arguments coerced to the tool's schema. */
export interface ResolvedRequest<Tool extends KnownTool = KnownTool> {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly report: readonly CoercedArgument[];
  /** Invalid arguments; empty if the request can be run. */
  readonly problems: readonly Reason[];
  /** Ignored keys. */
  readonly warnings: readonly Reason[];
}

/** The requested tool name, joined from `toolName` and `command`. */
export function requestedName({ toolName, command }: ParsedToolRequest): string {
  return command === undefined ? toolName : `${toolName}_${command.trim()}`;
}

/** Returns undefined if there is no such tool. A tool named `toolName` takes precedence; `command` is then an argument. */
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
  const pair = command === undefined ? undefined : find(requestedName(request));
  return pair === undefined ? undefined : fitted(pair, args, meta, read);
}

/** The call that a request describes; `tool` is undefined if it does not exist. */
export interface RequestedCall<Tool extends KnownTool = KnownTool> extends Pick<
  ResolvedRequest,
  'args' | 'problems'
> {
  readonly tool: Tool | undefined;
  readonly toolName: string;
}

export function requestedCall<Tool extends KnownTool>(
  protocol: Pick<ToolCallingProtocol, 'replies'>,
  request: ParsedToolRequest,
  find: FindTool<Tool>,
): RequestedCall<Tool> {
  const resolved = resolveRequest(protocol, request, find);
  if (resolved === undefined)
    return { tool: undefined, toolName: requestedName(request), args: request.args, problems: [] };
  const { tool, args, problems } = resolved;
  return { tool, toolName: tool.name, args, problems };
}

/** JSON arguments are typed already: the engine validates them. */
function asSent(schema: JsonSchema, args: Readonly<Record<string, unknown>>): Coerced {
  return { args: stripInjectedNulls(schema, args) as Record<string, unknown>, report: [] };
}

function fitted<Tool extends KnownTool>(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, string>>,
  read: typeof coerceArguments,
): ResolvedRequest<Tool> {
  const args = ownNames(tool, given);
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

/** Types are known by the schema's names only. */
function ownNames(
  { spell = null }: KnownTool,
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (spell === null) return args;
  // It may change the value it gets.
  const spelled = spell({ ...args });
  return isRecord(spelled) ? spelled : args;
}

function hasProperty(schema: JsonSchema, name: string): boolean {
  if (typeof schema === 'boolean') return false;
  return isRecord(schema['properties']) && Object.hasOwn(schema['properties'], name);
}
