import { mcpResults } from './mcp/tool-result.ts';
import type { ToolExecutionResult } from './protocol.ts';
import { PROTOCOL_IDS, protocolOf, type ProtocolId } from './protocols.ts';

/** Every format in which results can be had: MCP has results, and no replies of a model to read. */
export type ResultFormat = ProtocolId | 'mcp';
export const RESULT_FORMATS: readonly ResultFormat[] = [...PROTOCOL_IDS, 'mcp'];

/** Text for the next message, or the JSON of a vendor as text. */
export function formatResultsAs(format: ResultFormat, results: readonly ToolExecutionResult[]): string {
  return format === 'mcp'
    ? JSON.stringify(mcpResults(results))
    : protocolOf(format).formatToolResults(results);
}
