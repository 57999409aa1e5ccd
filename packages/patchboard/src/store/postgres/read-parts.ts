import type { Connection } from '../../postgres/connection.ts';
import { CallLists } from './call-lists.ts';
import { CallReader } from './call-reader.ts';
import { CallCounts } from './counts.ts';
import { DocumentTables } from './document-tables.ts';
import { EventReader } from './event-reader.ts';
import { LedgerReader } from './ledger-reader.ts';
import { Revisions } from './revisions.ts';
import { RunLists } from './run-lists.ts';
import type { Tables } from './schema.ts';
import type { Sequencer } from './sequencer.ts';
import type { ReadParts } from './store-parts.ts';

interface Given {
  readonly reader: Connection;
  /** Scans have a connection of their own, so that reads of single calls do not wait for them. */
  readonly scanner: Connection;
  readonly tables: Tables;
  readonly sequencer: Sequencer;
  readonly firstIdAt: (ms: number) => string;
  /** See `CallReader`. Absent: other processes write too. */
  readonly commits?: () => number;
}

/** The parts of a store that only read. */
export function readParts({ reader, scanner, tables, sequencer, firstIdAt, ...more }: Given): ReadParts {
  const calls = new CallReader({ reader, tables, ...more });
  return {
    tables,
    reader,
    calls,
    lists: new CallLists({ reader: scanner, tables, calls, firstIdAt }),
    runs: new RunLists({ reader: scanner, tables }),
    ledger: new LedgerReader({ reader: scanner, tables, sequencer, calls }),
    events: new EventReader({ reader: scanner, tables, sequencer }),
    counts: new CallCounts({ reader, scanner, tables, sequencer }),
    documents: new DocumentTables(tables, new Revisions(tables)),
  };
}
