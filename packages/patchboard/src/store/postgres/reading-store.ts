import type { Store } from '../../core/ports.ts';
import type { ReadParts } from './store-parts.ts';

/** The parts of a store that can be read while a server writes it. */
export interface ReadPostgresStore extends Pick<
  Store,
  | 'ledgerHead'
  | 'readLedger'
  | 'readLedgerOrder'
  | 'readWriterHeads'
  | 'findCall'
  | 'documents'
  | 'countByState'
> {
  close(): Promise<void>;
}

export function readingStore(
  { reader, calls, ledger, documents, counts }: ReadParts,
  close: () => Promise<void>,
): ReadPostgresStore {
  return {
    findCall: (id) => calls.find(id),
    ledgerHead: () => ledger.head(),
    readLedger: (...given) => ledger.read(...given),
    readLedgerOrder: (...given) => ledger.order(...given),
    readWriterHeads: (seq) => ledger.writerHeads(seq),
    documents: (kind) => documents.all(reader, kind),
    countByState: () => counts.countByState(),
    close,
  };
}
