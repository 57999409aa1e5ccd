import { reason, type ToolSpec } from '@patchboard/wire';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import type { Limits } from '../limits.ts';
import type { Digest, Schemas } from '../ports.ts';
import { clientNameProblem, clientWireNames, serverNameProblem, serverWireNames } from './name-rules.ts';
import { rejected, type ClientTool, type Registration, type Rejection } from './registered-tool.ts';
import type { ServerTool } from './server-tool.ts';
import type { ToolIndex } from './tool-index.ts';
import { covers, NO_RISK, riskOf, type Risk } from './tool-risks.ts';
import { OWN_TOOL, serverToolProblem, specProblem, withContract, type ToolSupply } from './tool-rules.ts';

export interface AdmitToolParts {
  readonly toolIndex: ToolIndex;
  readonly schemas: Schemas;
  readonly digest: Digest;
  readonly limits: Limits;
}

/**
 * Checks a tool of this server without adding it to the index. `risk`: the risk recorded for the name, which is merged
 * into the tool's annotations.
 */
export function admitServerTool(
  parts: AdmitToolParts,
  tool: ServerTool,
  { origin, source, pack }: ToolSupply = OWN_TOOL,
  risk: Risk = NO_RISK,
): Registration {
  const problem =
    serverToolProblem(tool, parts.limits, origin) ?? serverNameProblem(parts.toolIndex, tool.name);
  if (problem !== null) return problem;
  const { name, description, inputSchema, outputSchema, timeoutMs, metadata } = tool;
  const annotations = covers(riskOf(tool.annotations), risk)
    ? tool.annotations
    : { ...tool.annotations, ...risk };
  return withContract(parts, origin, {
    tenant: null,
    pack,
    name,
    ...serverWireNames(parts, name),
    source,
    description,
    inputSchema,
    outputSchema,
    timeoutMs,
    metadata,
    annotations,
    bytes: 0,
    hooks: tool.hooks ?? null,
    cacheTtlMs: tool.cacheTtlMs ?? null,
    sandbox: tool.sandbox ?? null,
    unavailable: tool.unavailable ?? null,
    spell: tool.spell ?? null,
    task: tool.task ?? null,
    // The return value of a tool from outside is data, whatever it looks like.
    reportsFailures: origin === 'own',
    returnsLargeContent: true,
    clientId: null,
    contractChange: null,
    runsOn: { kind: 'server', tool },
  });
}

/**
 * Checks a client's tool without adding it to the index. `storedWireName`: set for a tool loaded from the store, which
 * keeps its name even if another name is similar.
 */
export function admitClientTool(
  parts: AdmitToolParts,
  { tenant, clientId }: { readonly tenant: string; readonly clientId: string },
  spec: ToolSpec,
  storedWireName?: string,
): Registration<ClientTool> {
  const isStored = storedWireName !== undefined;
  const bytes = utf8Bytes(JSON.stringify(spec));
  const problem =
    specProblem(spec, parts.limits) ??
    clientNameProblem(parts.toolIndex, {
      tenant,
      clientId,
      name: spec.name,
      isStored,
    }) ??
    roomProblem(parts, tenant, clientId, spec.name, bytes);
  if (problem !== null) return problem;
  const tool = {
    tenant,
    pack: null,
    name: spec.name,
    ...clientWireNames(parts, tenant, spec.name, storedWireName),
    source: 'client',
    description: spec.description ?? '',
    inputSchema: spec.schema,
    outputSchema: spec.output_schema ?? null,
    timeoutMs: spec.timeout_ms ?? parts.limits.clientTimeoutMs,
    metadata: spec.metadata ?? null,
    annotations: spec.annotations ?? {},
    bytes,
    ...NOT_IN_PROCESS,
    clientId,
    runsOn: { kind: 'client', clientId },
  } as const;
  return withContract(parts, 'outside', tool, isStored);
}

function roomProblem(
  { toolIndex, limits }: AdmitToolParts,
  tenant: string,
  clientId: string,
  name: string,
  bytes: number,
): Rejection | null {
  const { toolsPerClient, toolsPerTenant, toolBytesPerTenant } = limits;
  const tools = toolIndex.clientToolsOf(tenant);
  const holder = tools?.get(name);
  if (holder === undefined) {
    if ((tools?.of(clientId).size ?? 0) >= toolsPerClient)
      return rejected('too_large', reason('tools_of_client', { count: toolsPerClient }));
    if ((tools?.size ?? 0) >= toolsPerTenant)
      return rejected('too_large', reason('tools_of_tenant', { count: toolsPerTenant }));
  }
  if ((tools?.bytes ?? 0) - (holder?.bytes ?? 0) + bytes > toolBytesPerTenant) {
    return rejected('too_large', reason('tool_bytes_of_tenant', { bytes: toolBytesPerTenant }));
  }
  return null;
}

/** Members that only tools of this process use. */
const NOT_IN_PROCESS = {
  hooks: null,
  cacheTtlMs: null,
  sandbox: null,
  unavailable: null,
  spell: null,
  task: null,
  reportsFailures: false,
  returnsLargeContent: false,
  contractChange: null,
} as const;
