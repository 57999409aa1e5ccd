import type { RegisteredTool } from '../../../core/tools/registered-tool.ts';
import { mcpTool, type McpListOptions } from '../../../protocols/mcp/tool-list.ts';
import type { ToolListFormat } from '../../shared/views/tool-lists.ts';
import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { PAGE_SIZE, pageResult, pageStart } from './list-page.ts';
import type { McpSettings } from '../mcp-settings.ts';
import { RESULT_TOOL } from '../calls/result-tool.ts';

const TOOLS = { list: 'tools/list', plural: 'tools' };
const RESULT_TOOL_ROW = JSON.stringify(RESULT_TOOL);

/** One page of the tools that the principal may call, in the order of the tool index. */
export function listTools(exchange: Exchange): string {
  chargeRequest(exchange);
  const { context, principal, narrowing } = exchange;
  const tools = context.engine.tools(principal).filter(narrowing.allows);
  const { page, lastKey } = toolPage(tools, pageStart(exchange, TOOLS.list), PAGE_SIZE);
  const rows = context.toolLists.rows(page, formatOf(exchange));
  if (lastKey === null && !exchange.client.hasTasks) rows.push(RESULT_TOOL_ROW);
  return pageResult(exchange, TOOLS, rows, lastKey);
}

/**
 * The tools after the key of the last tool of the page before, and the key of the last one if there are more. A tool that
 * was removed since keeps its place in the order.
 */
export function toolPage<Tool extends Keyed>(
  tools: readonly Tool[],
  after: string | null,
  limit: number,
): { readonly page: readonly Tool[]; readonly lastKey: string | null } {
  const found = after === null ? 0 : tools.findIndex((tool) => keyOf(tool) > after);
  const start = found === -1 ? tools.length : found;
  const page = tools.slice(start, start + limit);
  const last = page.at(-1);
  return { page, lastKey: last === undefined || start + limit >= tools.length ? null : keyOf(last) };
}

type Keyed = Pick<RegisteredTool, 'tenant' | 'name'>;

/** Sorts as the tool index does: server tools before client tools, each by name. */
function keyOf({ tenant, name }: Keyed): string {
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

/** Whether the tool list of this client has the tool's output schema. */
export function listsOutputSchema({ settings, era, client }: Exchange, tool: RegisteredTool): boolean {
  if (era === 'modern' && client.hasTasks) return tool.outputSchema !== null;
  return showsOutputSchema(tool, settings.holdMs);
}

/**
 * A client without tasks may get a receipt, which has no structured result. SDK clients reject that for a tool with an
 * output schema, so only tools that end within the hold show theirs.
 */
function showsOutputSchema(
  {
    annotations,
    timeoutMs,
    outputSchema,
  }: Pick<RegisteredTool, 'annotations' | 'timeoutMs' | 'outputSchema'>,
  holdMs: number,
): boolean {
  return outputSchema !== null && annotations.readonly === true && timeoutMs <= holdMs;
}
