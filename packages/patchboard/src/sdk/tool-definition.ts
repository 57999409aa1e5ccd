import type { JsonSchema, ToolAnnotations } from '@patchboard/wire';
import type { Hooks } from '../core/steps/hooks.ts';
import type { ToolContext } from '../core/tools/server-tool.ts';
import type { MethodOrigin } from '../core/tools/tool-module.ts';

/** What a tool says of itself besides its schema. All of it is obeyed. */
export interface ToolMetadata {
  /** Part of the contract: what was granted for another version does not hold for this one. */
  readonly version?: string;
  /** `board.tools({ tag })` selects by them, and hooks see them. */
  readonly tags?: readonly string[];
  /** What the tenant API lists it under. */
  readonly category?: string;
  /** False: for operators only, on every API. Default true. */
  readonly aiCallable?: boolean;
  /** True: only for callers who have shown who they are; local mode counts. */
  readonly requiresAuth?: boolean;
  /** Milliseconds. Default 30,000. */
  readonly timeout?: number;
  /** False: one call of it at a time, whoever asks. Default true. */
  readonly concurrent?: boolean;
  /** Changes nothing. Shown to whoever lists tools, and to hooks, which may answer it from a cache. */
  readonly readonly?: boolean;
  /** Asks an operator, unless policy says otherwise. */
  readonly destructive?: boolean;
  /** May be run again after a failure that may pass, and after a restart. */
  readonly idempotent?: boolean;
  readonly requiresApproval?: boolean;
  /** With `readonly`: for so many milliseconds a result may be given again. Default: never. */
  readonly cacheTtl?: number;
}

/** A tool as it is written, ready to be given to a board. Making one has no effect on anything else. */
export interface ToolDefinition<Args = unknown, Result = unknown> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly metadata: ToolMetadata;
  readonly hooks: Hooks | null;
  /** Of which module it is a method. */
  readonly origin?: MethodOrigin;
  /** `args` has passed the schema, defaults filled in. */
  execute(args: Args, context: ToolContext): Result | Promise<Result>;
}

export function annotationsOf(metadata: ToolMetadata): ToolAnnotations {
  const { readonly, destructive, idempotent, requiresApproval } = metadata;
  return {
    ...(readonly === undefined ? {} : { readonly }),
    ...(destructive === undefined ? {} : { destructive }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(requiresApproval === undefined ? {} : { requires_approval: requiresApproval }),
  };
}
