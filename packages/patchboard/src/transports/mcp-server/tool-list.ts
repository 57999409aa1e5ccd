import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { mcpTool, type McpListOptions } from '../../protocols/mcp/tool-list.ts';
import type { ToolListFormat } from '../shared/views/tool-lists.ts';
import { chargeRequest } from './charge-request.ts';
import type { Exchange } from './exchange.ts';
import { PAGE_SIZE, pageResult, pageStart } from './list-page.ts';
import type { McpSettings } from './mcp-settings.ts';
import { RESULT_TOOL } from './result-tool.ts';

const TOOLS = { list: 'tools/list', plural: 'tools' };
const RESULT_TOOL_ROW = JSON.stringify(RESULT_TOOL);

/** One page of the tools that the principal may call, in the order of the tool index. */
export function listTools(exchange: Exchange): string {
  chargeRequest(exchange);
  const { context, principal, narrowing } = exchange;
  const tools = context.engine.tools(principal).filter(narrowing.allows);
  const cursor = pageStart(exchange, TOOLS.list);
  const start = cursor === null ? 0 : positionAfter(tools, cursor);
  const page = tools.slice(start, start + PAGE_SIZE);
  const last = start + PAGE_SIZE < tools.length ? page.at(-1) : undefined;
  const rows = context.toolLists.rows(page, formatOf(exchange));
  if (last === undefined && !exchange.client.hasTasks) rows.push(RESULT_TOOL_ROW);
  return pageResult(exchange, TOOLS, rows, last === undefined ? null : keyOf(last));
}

/** The cursor is the key of the last tool of the page before. A tool that was removed since keeps its place in the order. */
function positionAfter(tools: readonly RegisteredTool[], cursor: string): number {
  const at = tools.findIndex((tool) => keyOf(tool) > cursor);
  return at === -1 ? tools.length : at;
}

/** Sorts as the tool index does: server tools before client tools, each by name. */
function keyOf({ tenant, name }: RegisteredTool): string {
  return `${tenant === null ? 0 : 1} ${name}`;
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

function formatsOf({ names, holdMs }: McpSettings): Readonly<Record<string, ToolListFormat>> {
  const format = (of: (tool: RegisteredTool) => McpListOptions['outputSchema']): ToolListFormat => ({
    row: (tool) => JSON.stringify(mcpTool(tool, { outputSchema: of(tool), names })),
  });
  const waiting = (shown: 'any' | 'object'): ToolListFormat =>
    format((tool) => (showsOutputSchema(tool, holdMs) ? shown : 'none'));
  return {
    'modern true': format(() => 'any'),
    'modern false': waiting('any'),
    'legacy true': waiting('object'),
    'legacy false': waiting('object'),
  };
}

/**
 * A client without tasks may get a receipt, which has no structured result. SDK clients reject that for a tool with an
 * output schema, so only tools that end within the hold show theirs.
 */
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
