import { mcpResults } from './mcp/tool-result.ts';
import type { ToolExecutionResult } from './protocol.ts';
import { PROTOCOL_IDS, protocolOf, type ProtocolId } from './protocols.ts';

/** Every format for results: those of the protocols, and MCP, which has no model replies to parse. */
export type ResultFormat = ProtocolId | 'mcp';
export const RESULT_FORMATS: readonly ResultFormat[] = [...PROTOCOL_IDS, 'mcp'];

/** Returns text for the next message, or the vendor's JSON as text. */
export function formatResultsAs(format: ResultFormat, results: readonly ToolExecutionResult[]): string {
  return format === 'mcp'
    ? JSON.stringify(mcpResults(results))
    : protocolOf(format).formatToolResults(results);
}
