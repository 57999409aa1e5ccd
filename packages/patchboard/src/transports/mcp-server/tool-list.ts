import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { mcpTool } from '../../protocols/mcp/tool-list.ts';
import type { ToolListFormat } from '../shared/views/tool-lists.ts';
import { chargeRequest } from './charge-request.ts';
import type { Exchange } from './exchange.ts';
import type { McpSettings } from './mcp-settings.ts';
import { RESULT_TOOL } from './result-tool.ts';
import { membersOf, resultJson } from './result-json.ts';
import { invalidParams } from './rpc-error.ts';

const PAGE_SIZE = 250;
const TTL_MS = 30_000;
const CACHING = membersOf({ ttlMs: TTL_MS, cacheScope: 'private' });

/** One page of the tools that the principal may call, in the order of the tool index. */
export function listTools(exchange: Exchange): string {
  chargeRequest(exchange);
  const { context, principal, era, narrowing, params } = exchange;
  const format = formatOf(exchange);
  const tools = context.engine.tools(principal).filter(({ name }) => narrowing.allows(name));
  const start = params['cursor'] === undefined ? 0 : positionAfter(tools, params['cursor']);
  const page = tools.slice(start, start + PAGE_SIZE);
  const hasMore = start + PAGE_SIZE < tools.length;
  const rows = context.toolLists.rows(page, format);
  if (!hasMore && !exchange.client.hasTasks) rows.push(RESULT_TOOL_ROW);
  const next = hasMore ? `,"nextCursor":${JSON.stringify(page.at(-1)?.name)}` : '';
  const caching = era === 'modern' ? `,${CACHING}` : '';
  return resultJson(era, `"tools":[${rows.join(',')}]${next}${caching}`);
}

const RESULT_TOOL_ROW = JSON.stringify(RESULT_TOOL);

/** The cursor is the last name of the page before. A tool that was removed since keeps its place in the order. */
function positionAfter(tools: readonly RegisteredTool[], cursor: unknown): number {
  if (typeof cursor !== 'string' || cursor === '' || cursor.length > 200)
    throw invalidParams('cursor is none that tools/list returned');
  const at = tools.findIndex(({ name }) => name > cursor);
  return at === -1 ? tools.length : at;
}

/** Formats are cached per settings, because the caches of `ToolLists` are per format object. */
const FORMATS: WeakMap<McpSettings, Readonly<Record<string, ToolListFormat>>> = new WeakMap();

function formatOf({ settings, era, client }: Exchange): ToolListFormat {
  const known = FORMATS.get(settings) ?? formatsOf(settings);
  FORMATS.set(settings, known);
  const format = known[`${era} ${client.hasTasks}`];
  if (format === undefined) throw new Error('a list format is missing');
  return format;
}

function formatsOf(settings: McpSettings): Readonly<Record<string, ToolListFormat>> {
  return {
    'modern true': { row: (tool) => JSON.stringify(mcpTool(tool)) },
    'modern false': { row: (tool) => rowForWaiting(tool, settings) },
    'legacy true': { row: (tool) => rowForWaiting(tool, settings) },
    'legacy false': { row: (tool) => rowForWaiting(tool, settings) },
  };
}

/**
 * A client without tasks may get a receipt, which has no structured result. SDK clients reject that for a tool with an
 * output schema, so only tools that end within the hold show theirs.
 */
function rowForWaiting(tool: RegisteredTool, { holdMs }: McpSettings): string {
  const row = mcpTool(tool);
  if (showsOutputSchema(tool, holdMs)) return JSON.stringify(row);
  const { outputSchema: _hidden, ...shown } = row;
  return JSON.stringify(shown);
}

export function showsOutputSchema(
  {
    annotations,
    timeoutMs,
    outputSchema,
  }: Pick<RegisteredTool, 'annotations' | 'timeoutMs' | 'outputSchema'>,
  holdMs: number,
): boolean {
  return outputSchema !== null && annotations.readonly === true && timeoutMs <= holdMs;
}
