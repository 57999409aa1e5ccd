import type { NodeKey } from '../../cluster/node-table.ts';
import type { CallSearch, RunningIndex } from '../../core/search/call-search.ts';
import type { Queryable } from '../../postgres/connection.ts';
import type { CallLists } from './call-lists.ts';
import type { CallReader } from './call-reader.ts';
import type { CallCounts } from './counts.ts';
import type { DocumentTables } from './document-tables.ts';
import type { EventReader } from './event-reader.ts';
import type { LedgerFeed } from './feed.ts';
import type { LedgerReader } from './ledger-reader.ts';
import type { Retention } from './retention.ts';
import type { Revisions } from './revisions.ts';
import type { RunLists } from './run-lists.ts';
import type { Tables } from './schema.ts';
import type { SharedStore } from './shared-store.ts';
import type { DeviceTable } from './device-table.ts';
import type { TokenTable } from './token-table.ts';
import type { ToolTables } from './tool-tables.ts';
import type { WriteQueue } from './write-queue.ts';
import type { WriterLost } from './writer-lost.ts';

/** The parts of a store that read. */
export interface ReadParts {
  readonly tables: Tables;
  readonly reader: Queryable;
  readonly calls: CallReader;
  readonly lists: CallLists;
  readonly runs: RunLists;
  readonly ledger: LedgerReader;
  readonly events: EventReader;
  readonly counts: CallCounts;
  readonly documents: DocumentTables;
}

export interface StoreParts extends ReadParts {
  /** Null: no other node writes. */
  readonly shared: SharedStore | null;
  readonly revisions: Revisions;
  readonly tools: ToolTables;
  /** Undefined: no other node uses the store. */
  readonly tokens: TokenTable | undefined;
  readonly devices: DeviceTable | undefined;
  /** The writer of this process. */
  readonly node: NodeKey;
  readonly queue: WriteQueue;
  readonly feed: LedgerFeed;
  readonly retention: Retention;
  readonly search: CallSearch;
  readonly startIndex: (keepCallsMs: number | null) => RunningIndex;
  /** Why writes fail now; null while they succeed. */
  readonly writeProblem: () => string | null;
  /** Calls the listener once this process can write no more; at once if that is so already. */
  readonly onLost: (listener: (error: WriterLost) => void) => () => void;
  /** Ends the connections now: everything in progress rejects. */
  readonly abandon: () => void;
  /** Gives up the writer and closes the connections. The queue is empty. */
  readonly close: () => Promise<void>;
}
