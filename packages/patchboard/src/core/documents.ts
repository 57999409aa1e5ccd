import type { LedgerDraft } from './ledger.ts';

/** Small records beside the calls: few, read at start, kept in memory by whoever owns them. */
export type DocumentKind = 'key' | 'grant' | 'policy' | 'risk' | 'tenant';

/** A document written together with something else; `body` null: it is deleted. */
export interface DocumentChange {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly body: string | null;
}

export interface DocumentStore {
  /** Adds or replaces, with its ledger rows in the same transaction. */
  putDocument(kind: DocumentKind, id: string, body: string, entries: readonly LedgerDraft[]): Promise<void>;
  deleteDocument(kind: DocumentKind, id: string, entries: readonly LedgerDraft[]): Promise<void>;
  /** In order of their ids. */
  documents(kind: DocumentKind): Promise<readonly { readonly id: string; readonly body: string }[]>;
}
