import type { JsonSchema, ToolAnnotations } from '@patchboard/wire';

/** What the list of an MCP server says of a tool. */
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

/** MCP takes the names as they are, and hints instead of promises. */
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

/** Structured results are objects in MCP; any other result goes out as text. */
function isObjectSchema(schema: JsonSchema | null): schema is Exclude<JsonSchema, boolean> {
  return schema !== null && typeof schema !== 'boolean' && schema['type'] === 'object';
}
