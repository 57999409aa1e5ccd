import { DatabaseSync } from 'node:sqlite';
import type { Digest, Store } from '../../core/ports.ts';
import { CallReader } from './call-reader.ts';
import { DocumentTable } from './document-table.ts';
import { LedgerTable } from './ledger-table.ts';
import { APPLICATION_ID } from './migrations.ts';
import { findLoss, hasNoTables, isVoid, lossRefusal, type StoreLoss } from './store-loss.ts';
import { StoreRefused, refusalOf } from './store-refused.ts';

export interface ReadOnlyStore extends Pick<Store, 'ledgerHead' | 'readLedger' | 'findCall' | 'documents'> {
  /** What it lacks of what its head file names; null: nothing. */
  readonly loss: StoreLoss | null;
  close(): void;
}

const BUSY_TIMEOUT_MS = 250;

/**
 * A look at a store that no server has open, for those who inspect it: no byte of it changes, and unlike the server's
 * own opening it lets a damaged ledger in, so that somebody can say where it breaks.
 */
export function readOnlyStore(file: string, digest: Digest): ReadOnlyStore {
  let database: DatabaseSync | null = null;
  try {
    if (!isVoid(file)) database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
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
