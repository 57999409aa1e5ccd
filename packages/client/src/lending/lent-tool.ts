import type { JsonSchema, ToolSpec } from '@patchboard/wire';

/** What is said of a tool that is lent, over a socket or over HTTP alike. */
export interface LentTool {
  readonly name: string;
  readonly description?: string;
  readonly timeoutMs?: number;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: {
    readonly readonly?: boolean;
    readonly destructive?: boolean;
    readonly idempotent?: boolean;
    readonly requiresApproval?: boolean;
  };
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** As the wire says it, but for the schema of the arguments: that has another name on each. */
export function lentSpec(tool: LentTool): Omit<ToolSpec, 'schema'> {
  const { name, description, timeoutMs, outputSchema, annotations, metadata } = tool;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(outputSchema === undefined ? {} : { output_schema: outputSchema }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(annotations === undefined ? {} : { annotations: toAnnotations(annotations) }),
  };
}

function toAnnotations(given: NonNullable<LentTool['annotations']>): NonNullable<ToolSpec['annotations']> {
  const { requiresApproval, ...same } = given;
  return { ...same, ...(requiresApproval === undefined ? {} : { requires_approval: requiresApproval }) };
}
