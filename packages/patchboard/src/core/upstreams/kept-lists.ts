import type { UpstreamKind } from '@patchboard/wire';
import type { DocumentChange, DocumentStore } from '../documents.ts';
import type { UpstreamTool } from './upstream.ts';

/** The tools of an upstream as last listed. */
export interface KeptList {
  readonly kind: UpstreamKind;
  readonly tools: readonly UpstreamTool[];
}

/**
 * The last list of each upstream, so that after a restart its tools are listed, and open calls find them, before it is
 * connected again. An unreadable list counts as none.
 */
export async function loadKeptLists(store: DocumentStore): Promise<Map<string, KeptList>> {
  const lists = new Map<string, KeptList>();
  for (const { id, body } of await store.documents('upstream')) {
    const list = keptListOf(body);
    if (list !== null) lists.set(id, list);
  }
  return lists;
}

/** The document that stores the list; null deletes it. */
export function keptListDocument(upstream: string, list: KeptList | null): DocumentChange {
  return { kind: 'upstream', id: upstream, body: list === null ? null : JSON.stringify(list) };
}

export function keptListOf(body: string): KeptList | null {
  try {
    const list = JSON.parse(body) as KeptList;
    return Array.isArray(list.tools) ? list : null;
  } catch {
    return null;
  }
}
