import type { JsonSchema, ToolAnnotations } from '@patchboard/wire';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { META } from './revisions.ts';

type ObjectSchema = Exclude<JsonSchema, boolean>;

/** A tool in the tool list of an MCP server. */
export interface McpTool {
  readonly name: string;
  /** The canonical name. */
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
  readonly _meta: Readonly<Record<`patchboard/${'name' | 'source' | 'version'}`, string>> & {
    readonly [META.via]?: readonly string[];
  };
}

export type ToolForMcp = Pick<
  RegisteredTool,
  | 'name'
  | 'wireName'
  | 'description'
  | 'inputSchema'
  | 'outputSchema'
  | 'annotations'
  | 'metadata'
  | 'source'
  | 'version'
  | 'runsOn'
>;

export interface McpListOptions {
  /**
   * `any`: every output schema (from revision 2026-07-28). `object`: those of objects, the only ones that earlier revisions
   * allow. `none`: for clients to which a call may return something else than its result.
   */
  readonly outputSchema: 'any' | 'object' | 'none';
  /** Which name the client calls the tool by. Model vendors refuse the dots of canonical names. */
  readonly names: 'wire' | 'canonical';
}

/** What clients of every revision understand. */
const EVERY_REVISION: McpListOptions = { outputSchema: 'object', names: 'wire' };

/** Represents annotations as hints. */
export function mcpTool(tool: ToolForMcp, options: McpListOptions = EVERY_REVISION): McpTool {
  const { name, description, inputSchema, source, version, runsOn } = tool;
  const via = runsOn.kind === 'server' ? runsOn.tool.via : undefined;
  const outputSchema = outputSchemaOf(tool, options);
  return {
    name: options.names === 'wire' ? tool.wireName : name,
    title: name,
    description,
    inputSchema: objectSchema(inputSchema),
    ...(outputSchema === null ? {} : { outputSchema }),
    annotations: hintsOf(tool),
    _meta: {
      'patchboard/name': name,
      'patchboard/source': source,
      'patchboard/version': version,
      ...(via === undefined ? {} : { [META.via]: via }),
    },
  };
}

function hintsOf({ annotations, metadata }: ToolForMcp): Readonly<Record<string, boolean>> {
  const { readonly, destructive, idempotent }: ToolAnnotations = annotations;
  const openWorld = metadata?.['openWorldHint'];
  return {
    ...(readonly === undefined ? {} : { readOnlyHint: readonly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(idempotent === undefined ? {} : { idempotentHint: idempotent }),
    ...(typeof openWorld === 'boolean' ? { openWorldHint: openWorld } : {}),
  };
}

function objectSchema(schema: JsonSchema): ObjectSchema {
  return { ...(typeof schema === 'boolean' ? {} : schema), type: 'object' };
}

/** MCP has no boolean schemas. */
function outputSchemaOf({ outputSchema: schema }: ToolForMcp, options: McpListOptions): ObjectSchema | null {
  if (schema === null || typeof schema === 'boolean' || options.outputSchema === 'none') return null;
  return options.outputSchema === 'any' || schema['type'] === 'object' ? schema : null;
}
