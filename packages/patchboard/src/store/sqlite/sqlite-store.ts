import type { DatabaseSync } from 'node:sqlite';
import type { CallStateName } from '@patchboard/wire';
import { isLocalModeEnd } from '../../core/access/local-mode.ts';
import type { Call } from '../../core/call/call.ts';
import type { DocumentChange, DocumentKind } from '../../core/documents.ts';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';
import type { EventRowFilter, EventSlice } from '../../core/ledger/event-slice.ts';
import type { LedgerDraft } from '../../core/ledger/ledger.ts';
import type {
  CallFilter,
  CommittedRow,
  Digest,
  Inserted,
  LedgerFilter,
  LedgerReadOptions,
  Log,
  NewCall,
  Page,
  Replaced,
  Run,
  Store,
} from '../../core/ports.ts';
import type { StoredTool } from '../../core/tools/registered-tool.ts';
import type { StateCounts } from '../ended-counts.ts';
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
import { openDatabase } from './open.ts';
import { resultOf } from './call-row.ts';
import type { StoreLoss } from './store-loss.ts';
import { RunTable } from './run-table.ts';
import { ToolTable } from './tool-table.ts';
import { WalDisk } from './wal-disk.ts';

export interface SqliteStoreOptions {
  /** Created if it is missing; its folder must exist. */
  readonly file: string;
  readonly digest: Digest;
  /** Maximum size of the file; a write beyond it rejects with `StorageFull`. Default: no limit. */
  readonly maxBytes?: number;
  /** Default: no log. */
  readonly log?: Log | undefined;
}

/** Rejects with `StoreRefused`, without changing the file, if the file cannot be used. */
export async function sqliteStore(options: SqliteStoreOptions): Promise<Store> {
  return (await openStore(options, false)).store;
}

/**
 * `acceptsLoss`: also opens a store that is behind its head file. The head file is then not changed until the first write.
 */
export async function openStore(
  options: SqliteStoreOptions,
  acceptsLoss: boolean,
): Promise<{ readonly store: Store; readonly loss: StoreLoss | null }> {
  const { file, digest, maxBytes } = options;
  const { database, loss } = openDatabase(file, digest, acceptsLoss);
  try {
    if (maxBytes !== undefined) limitSize(database, maxBytes);
    const store = new SqliteStore(database, options, loss);
    if (loss === null) await store.catchUpHead();
    return { store, loss };
  } catch (error) {
    database.close();
    throw error;
  }
}

function limitSize(database: DatabaseSync, maxBytes: number): void {
  const pageBytes = Number(database.prepare('pragma page_size').get()?.['page_size']);
  database.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`);
}

const INSERTED: Inserted = { kind: 'inserted' };
const REPLACED: Replaced = { kind: 'replaced' };

/** Maximum number of calls removed in one transaction. */
const PURGED_AT_ONCE = 200;

class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #disk: WalDisk;
  readonly #head: HeadWriter;
  readonly #commit: GroupCommit;
  readonly #calls: CallTable;
  readonly #reader: CallReader;
  readonly #scan: CallScan;
  readonly #runs: RunTable;
  readonly #callsOfRuns: CallsOfRuns;
  readonly #ledger: LedgerTable;
  readonly #documents: DocumentTable;
  readonly #journals: JournalTable;
  readonly #watchers: Watchers = new Watchers();
  readonly #tools: ToolTable;
  readonly #events: EventRows;
  readonly #indexer: EventIndexer;
  #closing: Promise<void> | null = null;

  constructor(database: DatabaseSync, { file, digest, log }: SqliteStoreOptions, loss: StoreLoss | null) {
    this.#database = database;
    this.#disk = new WalDisk(file, log);
    this.#calls = new CallTable(database);
    this.#reader = new CallReader(database);
    this.#scan = new CallScan(database, this.#reader);
    this.#runs = new RunTable(database);
    this.#callsOfRuns = new CallsOfRuns(database);
    this.#documents = new DocumentTable(database);
    this.#journals = new JournalTable(database);
    this.#ledger = new LedgerTable(database, { digest, findCall: (id) => this.#reader.find(id) });
    this.#tools = new ToolTable(database);
    const mayWrite = (): boolean => this.#disk.isInPlace();
    this.#head = headWriterOf(database, { databaseFile: file, digest, log, mayWrite }, loss);
    this.#commit = new GroupCommit(database, this.#disk, {
      save: () => {
        const restoreLedger = this.#ledger.save();
        const restoreCounts = this.#calls.save();
        const restoreNumbers = this.#callsOfRuns.save();
        return () => {
          restoreLedger();
          restoreCounts();
          restoreNumbers();
          this.#runs.forget();
        };
      },
      beforeCommit: () => {
        this.#callsOfRuns.indexIfDue();
        this.#ledger.write();
      },
      durable: () => {
        const { seq, hash } = this.#ledger.head;
        this.#head.advance(seq, hash);
        const rows = this.#ledger.takeCommitted();
        this.#indexer.committed(rows);
        this.#watchers.notify(rows);
      },
    });
    const postings = new EventPostings(database);
    this.#events = new EventRows(database, postings, () => this.#indexer.head);
    this.#indexer = new EventIndexer({
      postings,
      head: this.#ledger.head.seq,
      readBlock: (block) => this.#events.postingsOf(block),
      write: (apply) => this.#commit.write(apply),
    });
  }

  /** Updates the head file with commits of the last process and of the migration. */
  async catchUpHead(): Promise<void> {
    if (this.#head.isWritten) return;
    this.#disk.syncNow();
    await this.#head.flush();
  }

  insertCall(record: NewCall): Promise<Inserted> {
    return this.#commit.write(() => this.#insert(record), { bytes: record.call.argsJson.length });
  }

  /** Checks everything before it writes anything: a result other than `inserted` has changed nothing. */
  #insert(record: NewCall): Inserted {
    const { call, idempotency, entries } = record;
    const used = idempotency === null ? undefined : this.#calls.findKey(idempotency.scope);
    if (used !== undefined && used.expiresAt > call.createdAt) {
      return { kind: 'duplicate', callId: used.callId, bodyHash: used.bodyHash };
    }
    const { run } = this.#runs.ensure(record.run);
    if (run.agentId !== record.run.agentId || run.cancelledAt !== null) return { kind: 'run_refused', run };
    if (idempotency !== null && used !== undefined) this.#calls.freeKey(idempotency.scope);
    this.#calls.insert(this.#callsOfRuns.next(), record);
    this.#ledger.append(entries, call);
    return INSERTED;
  }

  replaceCall(
    call: Call,
    expectedVersion: number,
    entries: readonly LedgerDraft[],
    argsChanged = false,
  ): Promise<Replaced> {
    const replace = (): Replaced => {
      if (!this.#calls.replace(call, expectedVersion))
        return { kind: 'conflict', current: this.#reader.find(call.id) };
      if (argsChanged) this.#calls.rewriteArgs(call);
      this.#ledger.append(entries, call);
      return REPLACED;
    };
    return this.#commit.write(replace, { bytes: resultOf(call)?.length ?? 0 });
  }

  /** Reads only durable data, which a power loss cannot revert. */
  async #read<T>(read: () => T | Promise<T>): Promise<T> {
    const durable = this.#commit.durable();
    if (durable !== undefined) await durable;
    return await read();
  }

  async findCall(id: string): Promise<Call | undefined> {
    return await this.#read(() => this.#reader.find(id));
  }

  async listCalls(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>> {
    return await this.#read(() => this.#scan.list(filter, cursor, limit));
  }

  openCalls(): AsyncIterable<Call> {
    return this.#scan.open();
  }

  ensureRun(run: Run, entry: LedgerDraft): Promise<Run> {
    return this.#commit.write(() => {
      const ensured = this.#runs.ensure(run);
      if (ensured.isNew) this.#ledger.append([entry], null);
      return ensured.run;
    });
  }

  async findRun(tenant: string, id: string): Promise<Run | undefined> {
    return await this.#read(() => this.#runs.find(tenant, id));
  }

  async listRuns(
    tenant: string,
    agentId: string | null,
    cursor: string | null,
    limit: number,
  ): Promise<Page<Run>> {
    return await this.#read(() => this.#runs.list(tenant, agentId, cursor, limit));
  }

  cancelRun(tenant: string, id: string, at: number, entry: LedgerDraft): Promise<boolean> {
    return this.#commit.write(() => {
      if (!this.#runs.cancel(tenant, id, at)) return false;
      this.#ledger.append([entry], null);
      return true;
    });
  }

  saveTools(
    tools: readonly StoredTool[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
  ): Promise<void> {
    return this.#commit.write(() => {
      for (const tool of tools) this.#tools.save(tool);
      this.#documents.change(documents);
      this.#ledger.append([entry], null);
    });
  }

  removeTools(
    keys: readonly { tenant: string; name: string }[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
  ): Promise<void> {
    return this.#commit.write(() => {
      for (const key of keys) this.#tools.remove(key);
      this.#documents.change(documents);
      this.#ledger.append([entry], null);
    });
  }

  async tools(): Promise<readonly StoredTool[]> {
    return await this.#read(() => this.#tools.all());
  }

  async putDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
    others: readonly DocumentChange[] = [],
  ): Promise<void> {
    await this.#changeDocuments([{ kind, id, body }, ...others], entries);
  }

  async deleteDocument(kind: DocumentKind, id: string, entries: readonly LedgerDraft[]): Promise<void> {
    await this.#changeDocuments([{ kind, id, body: null }], entries);
  }

  async #changeDocuments(changes: readonly DocumentChange[], entries: readonly LedgerDraft[]): Promise<void> {
    await this.#commit.write(() => {
      this.#documents.change(changes);
      this.#ledger.append(entries, null);
    });
    const mark = changes.findLast(isLocalModeEnd);
    if (mark !== undefined) await this.#head.setKeysExisted(mark.body !== null);
  }

  async document(kind: DocumentKind, id: string): Promise<string | undefined> {
    return await this.#read(() => this.#documents.one(kind, id));
  }

  async documents(kind: DocumentKind): Promise<readonly { readonly id: string; readonly body: string }[]> {
    return await this.#read(() => this.#documents.all(kind));
  }

  appendJournal(journal: string, after: number, entries: readonly JournalDraft[]): Promise<boolean> {
    const bytes = entries.reduce((sum, { body }) => sum + body.length, 0);
    return this.#commit.write(() => this.#journals.append(journal, after, entries), { bytes });
  }

  async readJournal(
    journal: string,
    after: number,
    limit: number,
    kinds?: readonly string[],
  ): Promise<readonly JournalEntry[]> {
    return await this.#read(() => this.#journals.read(journal, after, limit, kinds));
  }

  append(entries: readonly LedgerDraft[]): Promise<void> {
    return this.#commit.write(() => this.#ledger.append(entries, null));
  }

  async readLedger(
    filter: LedgerFilter,
    after: number,
    limit: number,
    options?: LedgerReadOptions,
  ): Promise<readonly CommittedRow[]> {
    return await this.#read(() => this.#ledger.read(filter, after, limit, options));
  }

  async readEvents(filter: EventRowFilter, after: number, limit: number): Promise<EventSlice> {
    // Returns only durable rows, so it does not wait for an fsync.
    return this.#events.read(filter, after, limit);
  }

  async ledgerHead(): Promise<{ readonly seq: number; readonly hash: string }> {
    return await this.#read(() => this.#ledger.head);
  }

  watch(listener: (committed: CommittedRow) => void): () => void {
    return this.#watchers.add(listener);
  }

  writeProblem(): string | null {
    return this.#commit.problem();
  }

  async countEnded(tenant: string): Promise<Readonly<StateCounts>> {
    return await this.#read(() => this.#calls.countEnded(tenant));
  }

  async countByState(): Promise<Readonly<Partial<Record<CallStateName, number>>>> {
    return await this.#read(() => this.#calls.countByState());
  }

  async purgeCalls(before: number, limit: number): Promise<number> {
    const numbers = await this.#scan.endedBefore(before, limit);
    let purged = 0;
    for (let start = 0; start < numbers.length; start += PURGED_AT_ONCE) {
      const some = numbers.slice(start, start + PURGED_AT_ONCE);
      const purge = (): number => some.filter((no) => this.#purge(no, before)).length;
      // Purging must work especially when other writes fail because the disk is full.
      purged += await this.#commit.write(purge, { alone: true });
    }
    return purged;
  }

  #purge(no: number, before: number): boolean {
    const removed = this.#calls.remove(no, before);
    if (removed === undefined) return false;
    this.#callsOfRuns.remove(removed.runId, removed.tenant, removed.id);
    return true;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    await this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.#indexer.close();
    this.#commit.close();
    await this.#head.close();
    this.#disk.close();
    this.#database.close();
  }
}
