import type { JsonSchema, ToolAnnotations } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { ServerTool, ToolContext } from '../../core/tools/server-tool.ts';
import type { SiteScope } from './records.ts';
import type { HeritageStorage } from './storage.ts';

/** What every tool of the pack works with. */
export interface HeritageParts {
  /** Opened when it is first needed. */
  storage(): Promise<HeritageStorage>;
  /** For callers that name no site. */
  onlySite(tenant: string): string | null;
  /** Epoch milliseconds. */
  now(): number;
}

export interface ToolWork {
  readonly storage: HeritageStorage;
  readonly scope: SiteScope;
  readonly context: ToolContext;
  /** RFC 3339. */
  readonly now: string;
}

interface HeritageTool<Input> {
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** `input` has passed the schema, and has no member that is null. */
  run(input: Input, work: ToolWork): Promise<unknown>;
}

const TIMEOUT_MS = 5000;

/** Each call may be made again: reads change nothing, and writes are kept under the id of the call. */
export const READS: ToolAnnotations = { readonly: true, destructive: false, idempotent: true };
export const WRITES: ToolAnnotations = { readonly: false, destructive: false, idempotent: true };

export function heritageTool<Input>(parts: HeritageParts, tool: HeritageTool<Input>): ServerTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: tool.input,
    outputSchema: tool.output,
    timeoutMs: TIMEOUT_MS,
    annotations: tool.annotations,
    metadata: { version: '1.0.0', category: tool.category, requires_auth: true, ai_callable: true },
    concurrency: null,
    execute: async (args, context) =>
      await tool.run(withoutNulls(args) as Input, {
        storage: await parts.storage(),
        scope: scopeOf(parts, context),
        context,
        now: new Date(parts.now()).toISOString(),
      }),
  };
}

function scopeOf(parts: HeritageParts, { tenant, origin }: ToolContext): SiteScope {
  const site = origin?.siteId ?? parts.onlySite(tenant);
  if (site !== null) return { tenant, site };
  throw new ToolFailure(failure('input_invalid', `no site is named, and tenant ${tenant} has not just one`));
}

/** Null means absent. */
function withoutNulls(args: unknown): unknown {
  return Object.fromEntries(Object.entries(args as object).filter(([, value]) => value !== null));
}

/** A value that names nothing. */
export function notFound(message: string): ToolFailure {
  return new ToolFailure(failure('value_not_found', message));
}

/** Ids of what a call makes follow from the call: made twice, it is the same. */
export function idFrom(prefix: string, { callId }: ToolContext): string {
  return `${prefix}_${callId.replace(/^tc_/, '')}`;
}
