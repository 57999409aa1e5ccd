import { reason, type Reason, type ToolSourceName, type ToolSpec } from '@patchboard/wire';
import { canonicalJson } from '@patchboard/wire/json';
import type { Limits } from '../limits.ts';
import type { Digest, Schemas } from '../ports.ts';
import { readParamHeaders } from './param-headers.ts';
import { rejected, type RegisteredTool, type Registration, type Rejection } from './registered-tool.ts';
import type { ServerTool } from './server-tool.ts';
import { hasHiddenCharacters, isToolName } from './tool-names.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';

/** Checks a client's tool without compiling its schemas or comparing it with other tools. Returns null if it is valid. */
export function specProblem(
  { name, description = '', metadata, timeout_ms: timeoutMs = 1 }: ToolSpec,
  { toolDescriptionBytes, toolMetadataBytes, maxTimeoutMs }: Readonly<Limits>,
): Rejection | null {
  if (!isToolName(name)) return rejected('name_invalid', reason('tool_name_rule'));
  if (timeoutMs > maxTimeoutMs)
    return rejected('body_invalid', reason('spec_timeout_range', { most: maxTimeoutMs }));
  if (utf8Bytes(description) > toolDescriptionBytes)
    return rejected('too_large', reason('description_over_limit', { bytes: toolDescriptionBytes }));
  if (metadata !== undefined && utf8Bytes(JSON.stringify(metadata)) > toolMetadataBytes)
    return rejected('too_large', reason('metadata_over_limit', { bytes: toolMetadataBytes }));
  if (hasHiddenCharacters(description))
    return rejected(
      'schema_invalid',
      reason('description_hidden', { problem: [reason('hidden_characters')] }),
    );
  return null;
}

/** As `specProblem`, for a tool of this server. */
export function serverToolProblem(
  { name, description, metadata, timeoutMs, cacheTtlMs, slot, annotations, inputSchema }: ServerTool,
  limits: Readonly<Limits>,
  origin: ToolOrigin,
): Rejection | null {
  const { maxTimeoutMs } = limits;
  if (!isToolName(name))
    return rejected('name_invalid', reason('tool_name_bad', { name: JSON.stringify(name) }));
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs)
    return rejected('schema_invalid', reason('tool_timeout_range', { tool: name, most: maxTimeoutMs }));
  if (annotations.readonly === true && annotations.destructive === true)
    return rejected('schema_invalid', reason('tool_reads_and_destroys', { tool: name }));
  if (cacheTtlMs !== undefined && annotations.readonly !== true)
    return rejected('schema_invalid', reason('tool_not_cacheable', { tool: name }));
  if (cacheTtlMs !== undefined && annotations.asks_input === true)
    return rejected('schema_invalid', reason('tool_asks_and_caches', { tool: name }));
  if (slot !== undefined && (!Number.isSafeInteger(slot.limit) || slot.limit < 1))
    return rejected('schema_invalid', reason('slot_limit_range', { slot: slot.name }));
  if (origin === 'own') return null;
  const spec: ToolSpec = { name, description, schema: inputSchema };
  return specProblem(metadata === null ? spec : { ...spec, metadata }, limits);
}

/** `own`: written by the embedder. `outside`: sent by a client or an upstream server, with limits on its schemas. */
export type ToolOrigin = 'own' | 'outside';

/** The origin of a tool of this process, and the pack that decides which tenants have it. */
export interface ToolSupply {
  readonly origin: ToolOrigin;
  readonly source: ToolSourceName;
  readonly pack: string | null;
}

export const OWN_TOOL: ToolSupply = { origin: 'own', source: 'server', pack: null };

type Draft = Omit<RegisteredTool, 'version' | 'validateInput' | 'validateOutput'>;

/**
 * Compiles the schemas of a tool and hashes its contract. `isStored`: the tool was registered before a restart; header
 * annotations that an earlier version accepted do not remove it.
 */
export function withContract<Given extends Draft>(
  { schemas, digest }: { readonly schemas: Schemas; readonly digest: Digest },
  origin: ToolOrigin,
  tool: Given,
  isStored: boolean = false,
): Registration<Given & RegisteredTool> {
  const taken = schemas.compile(tool.inputSchema, origin);
  if (!taken.ok) return schemaRejected('input', tool.name, origin, taken.problem);
  const headers = readParamHeaders(tool.inputSchema);
  if (!headers.ok && !isStored) return schemaRejected('input', tool.name, origin, headers.problem);
  const given = tool.outputSchema === null ? null : schemas.compile(tool.outputSchema, origin);
  if (given !== null && !given.ok) return schemaRejected('output', tool.name, origin, given.problem);
  return {
    ok: true,
    tool: {
      ...tool,
      // The hash covers the text as sent, so that existing grants stay valid.
      description: tool.description.replaceAll('\r\n', '\n'),
      version: contractHash(digest, tool),
      validateInput: taken.validate,
      validateOutput: given === null ? null : given.validate,
    },
  };
}

/** For a tool from outside, the place is the member that was sent. */
function schemaRejected(kind: 'input' | 'output', tool: string, origin: ToolOrigin, why: Reason): Rejection {
  const problem = [why];
  if (origin === 'outside') {
    const place = kind === 'input' ? 'schema' : 'output_schema';
    return rejected('schema_invalid', reason('at_place', { place, problem }));
  }
  return rejected('schema_invalid', reason(`${kind}_schema_of`, { tool, problem }));
}

/** Includes the author's `metadata.version` and the target of an upstream's tool: changing only that changes the contract. */
function contractHash(digest: Digest, tool: Draft): string {
  const { name, description, inputSchema, outputSchema, annotations, metadata, runsOn } = tool;
  const authors = metadata?.['version'] === undefined ? {} : { version: metadata['version'] };
  const target = runsOn.kind === 'server' ? runsOn.tool.target : undefined;
  return digest.sha256(
    canonicalJson({
      name,
      description,
      inputSchema,
      outputSchema,
      annotations,
      ...authors,
      ...(target === undefined ? {} : { target }),
    }),
  );
}
