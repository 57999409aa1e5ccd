import type { JsonSchema, ToolAnnotations } from '@patchboard/wire';

/** A tool in the tool list of an MCP server. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Exclude<JsonSchema, boolean>;
  readonly outputSchema?: Exclude<JsonSchema, boolean>;
  readonly annotations: Readonly<Record<string, boolean>>;
}

export interface ToolForMcp {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly annotations: ToolAnnotations;
}

/** MCP uses the names unchanged, and represents annotations as hints. */
export function mcpTool({ name, description, inputSchema, outputSchema, annotations }: ToolForMcp): McpTool {
  return {
    name,
    description,
    inputSchema: objectSchema(inputSchema),
    ...(isObjectSchema(outputSchema) ? { outputSchema } : {}),
    annotations: hintsOf(annotations),
  };
}

function hintsOf({ readonly, destructive, idempotent }: ToolAnnotations): Readonly<Record<string, boolean>> {
  return {
    ...(readonly === undefined ? {} : { readOnlyHint: readonly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(idempotent === undefined ? {} : { idempotentHint: idempotent }),
  };
}

function objectSchema(schema: JsonSchema): Exclude<JsonSchema, boolean> {
  return { ...(typeof schema === 'boolean' ? {} : schema), type: 'object' };
}

/** Structured results are objects in MCP; any other result is sent as text. */
function isObjectSchema(schema: JsonSchema | null): schema is Exclude<JsonSchema, boolean> {
  return schema !== null && typeof schema !== 'boolean' && schema['type'] === 'object';
}
