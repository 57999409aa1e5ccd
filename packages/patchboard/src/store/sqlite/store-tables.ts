import type { DatabaseSync } from 'node:sqlite';
import type { Digest, Log } from '../../core/ports.ts';
import { LedgerSource } from '../../core/search/index-source.ts';
import { Watchers } from '../watchers.ts';
import { CallReader } from './call-reader.ts';
import { CallScan } from './call-scan.ts';
import { CallTable } from './call-table.ts';
import { CallsOfRuns } from './calls-of-runs.ts';
import { DocumentTable } from './document-table.ts';
import { EventIndexer } from './event-indexer.ts';
import { EventPostings } from './event-postings.ts';
import { EventRows } from './event-rows.ts';
import { GroupCommit } from './group-commit.ts';
import { headWriterOf, type HeadWriter } from './head-writer.ts';
import { JournalTable } from './journal-table.ts';
import { LedgerTable } from './ledger-table.ts';
import { RunTable } from './run-table.ts';
import { RecentRows } from './search/recent-rows.ts';
import { StoreCopies } from './store-copies.ts';
import type { StoreLoss } from './store-loss.ts';
import { ToolTable } from './tool-table.ts';
import { WalDisk } from './wal-disk.ts';

export interface StoreTablesOptions {
  readonly file: string;
  readonly digest: Digest;
  readonly log?: Log | undefined;
}

/** The tables of one database, and the group commit that all of them are written through. */
export class StoreTables {
  readonly calls: CallTable;
  readonly reader: CallReader;
  readonly scan: CallScan;
  readonly runs: RunTable;
  readonly callsOfRuns: CallsOfRuns;
  readonly ledger: LedgerTable;
  readonly documents: DocumentTable;
  readonly journals: JournalTable;
  readonly tools: ToolTable;
  readonly events: EventRows;
  /** What the index of calls is made from. */
  readonly indexSource: RecentRows;
  readonly watchers: Watchers = new Watchers();
  readonly head: HeadWriter;
  readonly commit: GroupCommit;
  readonly copies: StoreCopies;
  readonly #database: DatabaseSync;
  readonly #disk: WalDisk;
  readonly #indexer: EventIndexer;

  constructor(database: DatabaseSync, { file, digest, log }: StoreTablesOptions, loss: StoreLoss | null) {
    this.#database = database;
    this.#disk = new WalDisk(file, log);
    this.calls = new CallTable(database);
    this.reader = new CallReader(database);
    this.scan = new CallScan(database, this.reader);
    this.runs = new RunTable(database);
    this.callsOfRuns = new CallsOfRuns(database);
    this.documents = new DocumentTable(database);
    this.journals = new JournalTable(database);
    this.ledger = new LedgerTable(database, { digest, findCall: (id) => this.reader.find(id) });
    this.tools = new ToolTable(database);
    const mayWrite = (): boolean => this.#disk.isInPlace();
    this.head = headWriterOf(database, { databaseFile: file, digest, log, mayWrite }, loss);
    this.commit = new GroupCommit(database, this.#disk, {
      save: () => this.#save(),
      beforeCommit: () => {
        this.callsOfRuns.indexIfDue();
        this.ledger.write();
      },
      durable: () => this.#durable(),
    });
    this.copies = new StoreCopies(database, file);
    this.indexSource = new RecentRows(
      new LedgerSource({
        readLedger: (...given) => this.read(() => this.ledger.read(...given)),
        ledgerHead: () => this.read(() => this.ledger.head),
        // The row that ended the call was read, and is durable; the call does not change any more.
        findCall: async (id) => this.reader.find(id),
      }),
    );
    const postings = new EventPostings(database);
    this.events = new EventRows(database, postings, () => this.#indexer.head);
    this.#indexer = new EventIndexer({
      postings,
      head: this.ledger.head.seq,
      readBlock: (block) => this.events.postingsOf(block),
      write: (apply) => this.commit.write(apply),
    });
  }

  /** Reads only durable data, which a power loss cannot revert. */
  async read<T>(read: () => T | Promise<T>): Promise<T> {
    const durable = this.commit.durable();
    if (durable !== undefined) await durable;
    return await read();
  }

  /** Updates the head file with commits of the last process and of the migration. */
  async catchUpHead(): Promise<void> {
    if (this.head.isWritten) return;
    this.#disk.syncNow();
    await this.head.flush();
  }

  async close(): Promise<void> {
    this.#indexer.close();
    this.commit.close();
    await this.copies.close();
    await this.head.close();
    this.#disk.close();
    this.#database.close();
  }

  /** Returns a function that restores the in-memory state of the tables after a rolled back transaction. */
  #save(): () => void {
    const restoreLedger = this.ledger.save();
    const restoreCounts = this.calls.save();
    const restoreNumbers = this.callsOfRuns.save();
    return () => {
      restoreLedger();
      restoreCounts();
      restoreNumbers();
      this.runs.forget();
    };
  }

  #durable(): void {
    const { seq, hash } = this.ledger.head;
    this.head.advance(seq, hash);
    this.calls.committed();
    const rows = this.ledger.takeCommitted();
    this.#indexer.committed(rows);
    this.indexSource.committed(rows);
    this.watchers.notify(rows);
  }
}
