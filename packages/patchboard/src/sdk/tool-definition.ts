import type { JsonSchema, ToolAnnotations } from '@patchboard/wire';
import type { AgentHooks } from './agent-hooks.ts';
import type { ToolContext } from '../core/tools/server-tool.ts';
import type { MethodOrigin } from '../protocols/tool-module.ts';

/** Properties of a tool besides its schema. The board enforces all of them. */
export interface ToolMetadata {
  /** Part of the contract: approvals and grants for another version do not apply. */
  readonly version?: string;
  /** `board.tools({ tag })` filters by tag; hooks receive them. */
  readonly tags?: readonly string[];
  /** The category in the tool list of the tenant API. */
  readonly category?: string;
  /** False: only operators may call it, on every API. Default true. */
  readonly aiCallable?: boolean;
  /** True: only authenticated callers may call it. Local mode counts as authenticated. */
  readonly requiresAuth?: boolean;
  /** Time limit in milliseconds. Default 30,000. */
  readonly timeout?: number;
  /** False: at most one call of this tool runs at a time, across all callers. Default true. */
  readonly concurrent?: boolean;
  /** The tool has no side effects. Shown in tool lists and to hooks, which may return a cached result. */
  readonly readonly?: boolean;
  /** Requires approval unless the policy allows the call. */
  readonly destructive?: boolean;
  /** May run again after a transient failure and after a restart. */
  readonly idempotent?: boolean;
  readonly requiresApproval?: boolean;
  /** May ask its caller for input. A call that was approved cannot ask without it. Excludes `cacheTtl`. */
  readonly asksInput?: boolean;
  /**
   * For APIs that can return a task instead of waiting for the result, such as MCP. `always`: every call returns one;
   * `never`: none does. Default: the API decides.
   */
  readonly task?: 'always' | 'never';
  /** With `readonly`: how long a result may be reused, in milliseconds. Default: never. */
  readonly cacheTtl?: number;
}

/** The definition of a tool, to be passed to a board or registry. Creating one registers nothing. */
export interface ToolDefinition<Args = unknown, Result = unknown> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly metadata: ToolMetadata;
  readonly hooks: AgentHooks | null;
  /** The module whose method this tool is. */
  readonly origin?: MethodOrigin;
  /** `args` are validated, with defaults filled in. */
  execute(args: Args, context: ToolContext): Result | Promise<Result>;
}

export function annotationsOf(metadata: ToolMetadata): ToolAnnotations {
  const { readonly, destructive, idempotent, requiresApproval, asksInput } = metadata;
  return {
    ...(readonly === undefined ? {} : { readonly }),
    ...(destructive === undefined ? {} : { destructive }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(requiresApproval === undefined ? {} : { requires_approval: requiresApproval }),
    ...(asksInput === undefined ? {} : { asks_input: asksInput }),
  };
}
