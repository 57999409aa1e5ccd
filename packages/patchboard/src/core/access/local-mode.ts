import type { DocumentChange, DocumentKind, DocumentStore } from '../documents.ts';

/**
 * The document that records the end of local mode: written with the first key, deleted only when an operator allows local
 * mode again. Revoking the last key does not delete it.
 */
export const LOCAL_MODE_ENDED: { readonly kind: DocumentKind; readonly id: string } = {
  kind: 'local_mode',
  id: 'ended',
};

export function isLocalModeEnd({ kind, id }: DocumentChange): boolean {
  return kind === LOCAL_MODE_ENDED.kind && id === LOCAL_MODE_ENDED.id;
}

export async function hasLocalModeEnded(store: Pick<DocumentStore, 'documents'>): Promise<boolean> {
  return (await store.documents(LOCAL_MODE_ENDED.kind)).length > 0;
}
