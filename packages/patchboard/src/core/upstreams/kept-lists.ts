import type { DocumentChange, DocumentStore } from '../documents.ts';
import type { UpstreamTool } from './upstream.ts';

/**
 * The last list of each upstream, so that after a restart its tools are listed, and open calls find them, before it is
 * connected again. An unreadable list counts as none.
 */
export async function loadKeptLists(store: DocumentStore): Promise<Map<string, readonly UpstreamTool[]>> {
  const lists = new Map<string, readonly UpstreamTool[]>();
  for (const { id, body } of await store.documents('upstream')) {
    const tools = listOf(body);
    if (tools !== null) lists.set(id, tools);
  }
  return lists;
}

/** The document that stores the list; null deletes it. */
export function keptListDocument(upstream: string, tools: readonly UpstreamTool[] | null): DocumentChange {
  return { kind: 'upstream', id: upstream, body: tools === null ? null : JSON.stringify({ tools }) };
}

function listOf(body: string): readonly UpstreamTool[] | null {
  try {
    const { tools } = JSON.parse(body) as { readonly tools?: unknown };
    return Array.isArray(tools) ? (tools as readonly UpstreamTool[]) : null;
  } catch {
    return null;
  }
}
