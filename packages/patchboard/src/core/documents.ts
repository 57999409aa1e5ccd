import type { LedgerDraft } from './ledger/ledger.ts';

/**
 * Small records beside the calls. All kinds but `todo` are few: the owning service loads them at the start and keeps
 * them in memory.
 */
export type DocumentKind =
  | 'key'
  | 'grant'
  | 'policy'
  | 'risk'
  | 'tenant'
  | 'todo'
  | 'local_mode'
  | 'contract'
  | 'upstream'
  /** Browser sessions of operators, only of nodes that share a store. */
  | 'session'
  /** Browser sessions that keys opened. Another kind, because earlier versions take every `session` for one of an operator. */
  | 'key_session'
  /** When a key was last used. */
  | 'key_use';

/** A document change that is committed together with another write; `body` null deletes it. */
export interface DocumentChange {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly body: string | null;
}

export interface DocumentStore {
  /**
   * True: nodes share the store. When a write resolves, `SharedChanges` has applied it in memory, and possibly a later change of
   * another node too, which the writer must not overwrite. Otherwise the writer applies it.
   */
  readonly appliesChanges?: boolean;
  /** Inserts or replaces a document, with its ledger rows and `others`, in one transaction. */
  putDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
    others?: readonly DocumentChange[],
  ): Promise<void>;
  /** Inserts a document with its ledger rows. Returns false, and writes nothing, if there is a document with that id. */
  addDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
  ): Promise<boolean>;
  deleteDocument(kind: DocumentKind, id: string, entries: readonly LedgerDraft[]): Promise<void>;
  document(kind: DocumentKind, id: string): Promise<string | undefined>;
  /** In order of their ids. */
  documents(kind: DocumentKind): Promise<readonly { readonly id: string; readonly body: string }[]>;
}
