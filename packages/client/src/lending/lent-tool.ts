import type { JsonSchema, ToolSpec } from '@patchboard/wire';

/** The members of a client tool that are common to devices (WebSocket) and providers (HTTP). */
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
    /** Whether the tool may ask its caller for input while it runs. */
    readonly asksInput?: boolean;
  };
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Converts to the wire format, except for the input schema, whose field name differs between the two APIs. */
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
  const { requiresApproval, asksInput, ...same } = given;
  return {
    ...same,
    ...(requiresApproval === undefined ? {} : { requires_approval: requiresApproval }),
    ...(asksInput === undefined ? {} : { asks_input: asksInput }),
  };
}
