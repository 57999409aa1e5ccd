import type { NodeTable } from '../../cluster/node-table.ts';
import type { SharedLedger } from '../../cluster/shared-ledger.ts';
import type { LedgerFeed } from './feed.ts';

/** What several nodes need of the store that they share. */
export class SharedStore implements SharedLedger {
  readonly table: NodeTable;
  /** Identifies the store for ever. */
  readonly storeId: string;
  readonly #feed: Pick<LedgerFeed, 'committed'>;
  #listener: (() => void) | null = null;

  constructor(table: NodeTable, storeId: string, feed: Pick<LedgerFeed, 'committed'>) {
    this.table = table;
    this.storeId = storeId;
    this.#feed = feed;
  }

  onCommitted(listener: () => void): void {
    this.#listener = listener;
  }

  /** Must be called after each commit of this process. */
  committed(): void {
    this.#listener?.();
  }

  grown(): void {
    this.#feed.committed();
  }
}
