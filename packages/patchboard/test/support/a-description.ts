import type { RejectedTool } from '@patchboard/wire';
import { DEFAULT_LIMITS } from '../../src/core/limits.ts';
import type { UpstreamTool } from '../../src/core/upstreams/upstream.ts';
import { jsonSchemas } from '../../src/schemas/json-schemas.ts';
import { toolsOf } from '../../src/sources/openapi/description-tools.ts';
import { readDescription } from '../../src/sources/openapi/read-description.ts';

export interface Imported {
  readonly tools: readonly UpstreamTool[];
  readonly rejected: readonly RejectedTool[];
  readonly unselected: number;
}

/** Imports a description as the upstream `shop`. Throws if it cannot be read. */
export async function importText(text: string, patterns: readonly string[] = ['*']): Promise<Imported> {
  const read = await readDescription(text);
  if (!read.ok) throw new Error(read.problem.code);
  const parts = { schemas: jsonSchemas(), limits: DEFAULT_LIMITS };
  const imported = toolsOf(read.description, { name: 'shop', tools: patterns }, parts);
  if (!imported.ok) throw new Error(imported.problem.code);
  return imported;
}

/** Imports a description with these paths. `rest`: other members of the document. */
export async function importPaths(
  paths: object,
  rest: object = {},
  patterns: readonly string[] = ['*'],
): Promise<Imported> {
  const document = { openapi: '3.0.3', info: { title: 'Shop', version: '1' }, paths, ...rest };
  return importText(JSON.stringify(document), patterns);
}

/** Imports a description with the one operation `POST /things`, which must become a tool. */
export async function importOperation(operation: object, rest: object = {}): Promise<UpstreamTool> {
  const { tools, rejected } = await importPaths({ '/things': { post: operation } }, rest);
  const [tool] = tools;
  if (tool === undefined) throw new Error(rejected[0]?.reason);
  return tool;
}
