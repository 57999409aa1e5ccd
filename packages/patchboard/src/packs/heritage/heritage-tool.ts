import { reason, type JsonSchema, type Reason, type ToolAnnotations } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { ServerTool, ToolContext } from '../../core/tools/server-tool.ts';
import type { SiteScope } from './records.ts';
import type { HeritageStorage } from './storage.ts';

/** The dependencies of the tools of the pack. */
export interface HeritageParts {
  /** Opens the storage at the first call. */
  storage(): Promise<HeritageStorage>;
  /** Returns the site of a tenant with exactly one, for callers that name none; otherwise null. */
  onlySite(tenant: string): string | null;
  /** Epoch milliseconds. */
  now(): number;
}

interface ToolWork {
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
  /** `input` has passed the schema; null members have been removed. */
  run(input: Input, work: ToolWork): Promise<unknown>;
}

const TIMEOUT_MS = 5000;

/** All calls are idempotent: reads change nothing, and writes use the id of the call. */
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
  throw new ToolFailure(failure('input_invalid', reason('heritage_site_needed', { tenant })));
}

/** Removes null members: null means absent. */
function withoutNulls(args: unknown): unknown {
  return Object.fromEntries(Object.entries(args as object).filter(([, value]) => value !== null));
}

/** The failure for an id of something that does not exist. */
export function notFound(why: Reason): ToolFailure {
  return new ToolFailure(failure('value_not_found', why));
}

/** Derives the id of a record from the call, so that a repeated call creates the same record. */
export function idFrom(prefix: string, { callId }: ToolContext): string {
  return `${prefix}_${callId.replace(/^tc_/, '')}`;
}
