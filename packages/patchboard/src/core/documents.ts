import type { LedgerDraft } from './ledger/ledger.ts';

/** Small records beside the calls. All but todos are few, read at start and kept in memory by whoever owns them. */
export type DocumentKind = 'key' | 'grant' | 'policy' | 'risk' | 'tenant' | 'todo' | 'local_mode';

/** A document written together with something else; `body` null: it is deleted. */
export interface DocumentChange {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly body: string | null;
}

export interface DocumentStore {
  /** Adds or replaces, with its ledger rows and `others` in the same transaction. */
  putDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
    others?: readonly DocumentChange[],
  ): Promise<void>;
  deleteDocument(kind: DocumentKind, id: string, entries: readonly LedgerDraft[]): Promise<void>;
  document(kind: DocumentKind, id: string): Promise<string | undefined>;
  /** In order of their ids. */
  documents(kind: DocumentKind): Promise<readonly { readonly id: string; readonly body: string }[]>;
}
