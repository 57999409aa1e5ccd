import type { ContractDifference, ToolSourceName, UpstreamView } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';

/** The server records no more differences of a contract. */
export const MAX_DIFFERENCES = 20;
/** The version of MCP without sessions. Versions are dates. */
const MODERN_VERSION = '2026-07-28';

/** The upstream of a tool; null for tools that run elsewhere. The names of its tools begin with its name. */
export function upstreamOf(source: ToolSourceName, tool: string): string | null {
  return source === 'mcp' || source === 'openapi' ? prefixOf(tool) : null;
}

/** The part of a tool's name that names its upstream. */
export function prefixOf(tool: string): string {
  return tool.split('.', 1)[0] ?? tool;
}

/** How many tools have a contract that an operator has not accepted. */
export function changedCount(upstreams: readonly UpstreamView[]): number {
  return upstreams.flatMap(({ tools }) => tools).filter(({ change }) => change !== undefined).length;
}

/** The protocol with its version. The era of MCP is null before it is connected, and for other protocols. */
export function protocolOf({ kind, protocol }: Pick<UpstreamView, 'kind' | 'protocol'>): {
  readonly name: string;
  readonly era: 'modern' | 'legacy' | null;
} {
  const label = kind === 'mcp' ? 'MCP' : 'OpenAPI';
  if (protocol === null) return { name: label, era: null };
  const name = protocol.startsWith(label) ? protocol : `${label} ${protocol}`;
  if (kind !== 'mcp') return { name, era: null };
  return { name, era: protocol >= MODERN_VERSION ? 'modern' : 'legacy' };
}

/** The differences for which a call was held; null if its contract had not changed. */
export function contractChangeOf(
  meta: Readonly<Record<string, unknown>> | null | undefined,
): readonly ContractDifference[] | null {
  const change = meta?.['contract_change'];
  if (!isRecord(change) || !Array.isArray(change['differences'])) return null;
  return change['differences'].filter(isDifference);
}

function isDifference(value: unknown): value is ContractDifference {
  return isRecord(value) && typeof value['path'] === 'string';
}
