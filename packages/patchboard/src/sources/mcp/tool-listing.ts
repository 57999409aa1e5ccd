import type { McpConnection, McpRequest, McpResponse, McpToolList } from './mcp-connection.ts';

const TOOLS = 500;
const PAGES = 50;
/** Upper bound on the JSON text of all pages. */
const TOTAL_CHARACTERS = 16 * 1024 * 1024;

type Page = Readonly<Record<string, unknown>>;

/** The tools of a server, and how long the list may be used. */
export interface ToolListing extends Pick<McpToolList, 'tools' | 'omitted' | 'isComplete'> {
  /** Null: the server does not declare it. */
  readonly ttlMs: number | null;
}

/** `tools/list` failed: the server responded with an error or with something else than a list. */
class ListingFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListingFailed';
  }
}

/** Reads all pages of `tools/list`, within bounds. Tools beyond the bound are counted, not kept. */
export async function readTools(
  connection: Pick<McpConnection, 'request'>,
  signal: AbortSignal,
): Promise<ToolListing> {
  const tools: Page[] = [];
  const cursors = new Set<string | null>();
  let omitted = 0;
  let characters = 0;
  let ttlMs: number | null = null;
  let cursor: string | null = null;
  do {
    cursors.add(cursor);
    const page = pageOf(await connection.request(listRequest(cursor, signal)));
    characters += JSON.stringify(page).length;
    ttlMs ??= typeof page['ttlMs'] === 'number' ? page['ttlMs'] : null;
    const found = toolsOf(page);
    const kept = found.slice(0, TOOLS - tools.length);
    tools.push(...kept);
    omitted += found.length - kept.length;
    cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : null;
    // A server that repeats a cursor would never end the list.
  } while (cursor !== null && !cursors.has(cursor) && cursors.size < PAGES && characters < TOTAL_CHARACTERS);
  return { tools, omitted, isComplete: cursor === null, ttlMs };
}

function listRequest(cursor: string | null, signal: AbortSignal): McpRequest {
  return { method: 'tools/list', params: cursor === null ? {} : { cursor }, capabilities: {}, signal };
}

function pageOf(response: McpResponse): Page {
  if (response.kind === 'result') return response.result;
  throw new ListingFailed(`tools/list failed: ${response.message} (${response.code})`);
}

function toolsOf(page: Page): readonly Page[] {
  const { tools } = page;
  if (!Array.isArray(tools)) throw new ListingFailed('the response to tools/list contains no array "tools"');
  return (tools as unknown[]).filter(
    (tool): tool is Page => typeof tool === 'object' && tool !== null && !Array.isArray(tool),
  );
}
