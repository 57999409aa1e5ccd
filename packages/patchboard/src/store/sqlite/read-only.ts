import { DatabaseSync } from 'node:sqlite';
import type { Digest, Store } from '../../core/ports.ts';
import { CallReader } from './call-reader.ts';
import { DocumentTable } from './document-table.ts';
import { LedgerTable } from './ledger-table.ts';
import { APPLICATION_ID } from './migrations.ts';
import { findLoss, hasNoTables, isMissingOrEmpty, lossRefusal, type StoreLoss } from './store-loss.ts';
import { StoreRefused } from '../store-refused.ts';
import { refusalOf } from './sqlite-errors.ts';

export interface ReadOnlyStore extends Pick<Store, 'ledgerHead' | 'readLedger' | 'findCall' | 'documents'> {
  /** The loss against the head file; null if there is none. */
  readonly loss: StoreLoss | null;
  close(): void;
}

const BUSY_TIMEOUT_MS = 250;

/**
 * Opens a store that no server uses for inspection, without changing it. Unlike `openDatabase` it accepts a damaged ledger,
 * so that verification can report where it breaks.
 */
export function readOnlyStore(file: string, digest: Digest): ReadOnlyStore {
  let database: DatabaseSync | null = null;
  try {
    if (!isMissingOrEmpty(file))
      database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (database === null || hasNoTables(database)) {
      const loss = findLoss(file, digest, null);
      if (loss !== null) throw lossRefusal(file, loss);
    }
    database ??= new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (database.prepare('pragma application_id').get()?.['application_id'] !== APPLICATION_ID) {
      throw new StoreRefused(file, 'is not a Patchboard store', 'name another data folder');
    }
    return reader(file, database, digest);
  } catch (error) {
    database?.close();
    throw refusalOf(file, error);
  }
}

function reader(file: string, database: DatabaseSync, digest: Digest): ReadOnlyStore {
  const documents = new DocumentTable(database);
  const calls = new CallReader(database);
  const ledger = new LedgerTable(database, { digest, findCall: (id) => calls.find(id) });
  return {
    loss: findLoss(file, digest, database),
    ledgerHead: () => Promise.resolve(ledger.head),
    readLedger: async (filter, after, limit, options) => {
      try {
        return await ledger.read(filter, after, limit, options);
      } catch (error) {
        throw refusalOf(file, error);
      }
    },
    findCall: async (id) => calls.find(id),
    documents: (kind) => Promise.resolve(documents.all(kind)),
    close: () => database.close(),
  };
}
