import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '../core/json/is-record.ts';
import type { KnownTool } from './resolve.ts';

export type ToolFile =
  | { readonly ok: true; readonly tools: readonly KnownTool[] }
  | { readonly ok: false; readonly problem: string };

const SCHEMA_KEYS = ['schema', 'input_schema', 'inputSchema', 'parameters'] as const;

/** Reads tools from a file: the response of `GET /v1/tools` in any format, or a list of `{name, schema}`. */
export function readToolFile(content: unknown): ToolFile {
  const list = isRecord(content) ? content['tools'] : content;
  if (!Array.isArray(list))
    return { ok: false, problem: 'must hold a list of tools, or an object with "tools"' };
  const tools: KnownTool[] = [];
  for (const [at, entry] of list.entries()) {
    const tool = readTool(entry);
    if (tool === null) return { ok: false, problem: `tools[${at}] must have a "name" and a "schema"` };
    tools.push(tool);
  }
  return { ok: true, tools };
}

function readTool(entry: unknown): KnownTool | null {
  if (!isRecord(entry)) return null;
  const body = isRecord(entry['function']) ? entry['function'] : entry;
  const { name } = body;
  const schema = SCHEMA_KEYS.map((key) => body[key]).find((value) => value !== undefined) ?? {};
  if (typeof name !== 'string' || name === '') return null;
  if (!isRecord(schema) && typeof schema !== 'boolean') return null;
  return { name, inputSchema: schema as JsonSchema };
}
