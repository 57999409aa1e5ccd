import type { DatabaseSync } from 'node:sqlite';
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
  ListedRun,
  Log,
  NewCall,
  OpenCallFilter,
  Page,
  Replaced,
  Run,
  RunFilter,
  StateCounts,
  Store,
  StoreCopy,
} from '../../core/ports.ts';
import type { StoredTool } from '../../core/tools/registered-tool.ts';
import type { RemovedCall } from './call-table.ts';
import { openDatabase } from './open.ts';
import { resultOf } from '../stored-call.ts';
import type { StoreLoss } from './store-loss.ts';
import { indexFileOf } from './search/index-file.ts';
import { RequestedIndex } from './search/index-methods.ts';
import { IndexThread } from './search/index-thread.ts';
import type { RecentRows } from './search/recent-rows.ts';
import { StoreTables } from './store-tables.ts';

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
  readonly search: RequestedIndex;
  readonly indexWriter: RequestedIndex;
  readonly indexSource: RecentRows;
  readonly #tables: StoreTables;
  readonly #indexThread: IndexThread;
  #closing: Promise<void> | null = null;

  constructor(database: DatabaseSync, options: SqliteStoreOptions, loss: StoreLoss | null) {
    this.#tables = new StoreTables(database, options, loss);
    this.#indexThread = new IndexThread({ file: indexFileOf(options.file) });
    this.indexWriter = new RequestedIndex((method, ...args) => this.#indexThread.send(method, ...args));
    this.search = this.indexWriter;
    this.indexSource = this.#tables.indexSource;
  }

  async catchUpHead(): Promise<void> {
    await this.#tables.catchUpHead();
  }

  insertCall(record: NewCall): Promise<Inserted> {
    return this.#tables.commit.write(() => this.#insert(record), { bytes: record.call.argsJson.length });
  }

  /** Checks everything before it writes anything: a result other than `inserted` has changed nothing. */
  #insert(record: NewCall): Inserted {
    const { call, idempotency, entries } = record;
    const used = idempotency === null ? undefined : this.#tables.calls.findKey(idempotency.scope);
    if (used !== undefined && used.expiresAt > call.createdAt) {
      return { kind: 'duplicate', callId: used.callId, bodyHash: used.bodyHash };
    }
    const { run } = this.#tables.runs.ensure(record.run);
    if (run.agentId !== record.run.agentId || run.cancelledAt !== null) return { kind: 'run_refused', run };
    if (idempotency !== null && used !== undefined) this.#tables.calls.freeKey(idempotency.scope);
    this.#tables.calls.insert(this.#tables.callsOfRuns.next(), record);
    this.#tables.ledger.append(entries, call);
    return INSERTED;
  }

  replaceCall(
    call: Call,
    expectedVersion: number,
    entries: readonly LedgerDraft[],
    argsChanged = false,
  ): Promise<Replaced> {
    const replace = (): Replaced => {
      if (!this.#tables.calls.replace(call, expectedVersion))
        return { kind: 'conflict', current: this.#tables.reader.find(call.id) };
      if (argsChanged) this.#tables.calls.rewriteArgs(call);
      this.#tables.ledger.append(entries, call);
      return REPLACED;
    };
    return this.#tables.commit.write(replace, { bytes: resultOf(call)?.length ?? 0 });
  }

  async findCall(id: string): Promise<Call | undefined> {
    return await this.#tables.read(() => this.#tables.reader.find(id));
  }

  async listCalls(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>> {
    return await this.#tables.read(() => this.#tables.scan.list(filter, cursor, limit));
  }

  openCalls(of?: OpenCallFilter): AsyncIterable<Call> {
    return this.#tables.scan.open(of);
  }

  ensureRun(run: Run, entry: LedgerDraft): Promise<Run> {
    return this.#tables.commit.write(() => {
      const ensured = this.#tables.runs.ensure(run);
      if (ensured.isNew) this.#tables.ledger.append([entry], null);
      return ensured.run;
    });
  }

  async findRun(tenant: string, id: string): Promise<Run | undefined> {
    return await this.#tables.read(() => this.#tables.runs.find(tenant, id));
  }

  async listRuns(filter: RunFilter, cursor: string | null, limit: number): Promise<Page<ListedRun>> {
    return await this.#tables.read(() => this.#tables.runs.list(filter, cursor, limit));
  }

  cancelRun(tenant: string, id: string, at: number, entry: LedgerDraft): Promise<boolean> {
    return this.#tables.commit.write(() => {
      if (!this.#tables.runs.cancel(tenant, id, at)) return false;
      this.#tables.ledger.append([entry], null);
      return true;
    });
  }

  saveTools(
    tools: readonly StoredTool[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
  ): Promise<readonly string[]> {
    return this.#tables.commit.write(() => {
      const held = tools.filter((tool) => this.#tables.tools.isHeldByOther(tool));
      if (held.length > 0) return held.map(({ spec }) => spec.name);
      for (const tool of tools) this.#tables.tools.save(tool);
      this.#tables.documents.change(documents);
      this.#tables.ledger.append([entry], null);
      return [];
    });
  }

  removeTools(
    keys: readonly { tenant: string; name: string }[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
  ): Promise<void> {
    return this.#tables.commit.write(() => {
      for (const key of keys) this.#tables.tools.remove(key);
      this.#tables.documents.change(documents);
      this.#tables.ledger.append([entry], null);
    });
  }

  async tools(): Promise<readonly StoredTool[]> {
    return await this.#tables.read(() => this.#tables.tools.all());
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

  addDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
  ): Promise<boolean> {
    const isNew = (): boolean => this.#tables.documents.one(kind, id) === undefined;
    return this.#changeDocuments([{ kind, id, body }], entries, isNew);
  }

  async deleteDocument(kind: DocumentKind, id: string, entries: readonly LedgerDraft[]): Promise<void> {
    await this.#changeDocuments([{ kind, id, body: null }], entries);
  }

  /** Returns false, and writes nothing, if `isWanted` returns false in the transaction. */
  async #changeDocuments(
    changes: readonly DocumentChange[],
    entries: readonly LedgerDraft[],
    isWanted: () => boolean = () => true,
  ): Promise<boolean> {
    const isWritten = await this.#tables.commit.write(() => {
      if (!isWanted()) return false;
      this.#tables.documents.change(changes);
      this.#tables.ledger.append(entries, null);
      return true;
    });
    const mark = isWritten ? changes.findLast(isLocalModeEnd) : undefined;
    if (mark !== undefined) await this.#tables.head.setKeysExisted(mark.body !== null);
    return isWritten;
  }

  async document(kind: DocumentKind, id: string): Promise<string | undefined> {
    return await this.#tables.read(() => this.#tables.documents.one(kind, id));
  }

  async documents(kind: DocumentKind): Promise<readonly { readonly id: string; readonly body: string }[]> {
    return await this.#tables.read(() => this.#tables.documents.all(kind));
  }

  appendJournal(journal: string, after: number, entries: readonly JournalDraft[]): Promise<boolean> {
    const bytes = entries.reduce((sum, { body }) => sum + body.length, 0);
    return this.#tables.commit.write(() => this.#tables.journals.append(journal, after, entries), { bytes });
  }

  async readJournal(
    journal: string,
    after: number,
    limit: number,
    kinds?: readonly string[],
  ): Promise<readonly JournalEntry[]> {
    return await this.#tables.read(() => this.#tables.journals.read(journal, after, limit, kinds));
  }

  append(entries: readonly LedgerDraft[]): Promise<void> {
    return this.#tables.commit.write(() => this.#tables.ledger.append(entries, null));
  }

  async readLedger(
    filter: LedgerFilter,
    after: number,
    limit: number,
    options?: LedgerReadOptions,
  ): Promise<readonly CommittedRow[]> {
    return await this.#tables.read(() => this.#tables.ledger.read(filter, after, limit, options));
  }

  async readEvents(filter: EventRowFilter, after: number, limit: number): Promise<EventSlice> {
    // Returns only durable rows, so it does not wait for an fsync.
    return this.#tables.events.read(filter, after, limit);
  }

  async ledgerHead(): Promise<{ readonly seq: number; readonly hash: string }> {
    return await this.#tables.read(() => this.#tables.ledger.head);
  }

  watch(listener: (committed: CommittedRow) => void): () => void {
    return this.#tables.watchers.add(listener);
  }

  writeProblem(): string | null {
    return this.#tables.commit.problem();
  }

  waitingWrites(): number {
    return this.#tables.commit.waiting;
  }

  async countEnded(tenant: string): Promise<StateCounts> {
    return await this.#tables.read(() => this.#tables.calls.countEnded(tenant));
  }

  async countByState(): Promise<StateCounts> {
    return await this.#tables.read(() => this.#tables.calls.countByState());
  }

  async purgeCalls(before: number, limit: number): Promise<number> {
    const numbers = await this.#tables.scan.endedBefore(before, limit);
    let purged = 0;
    for (let start = 0; start < numbers.length; start += PURGED_AT_ONCE) {
      const some = numbers.slice(start, start + PURGED_AT_ONCE);
      const purge = (): readonly RemovedCall[] => some.flatMap((no) => this.#purge(no, before) ?? []);
      // Purging must work especially when other writes fail because the disk is full.
      const removed = await this.#tables.commit.write(purge, { alone: true });
      purged += removed.length;
      this.#removeFromIndex(removed);
    }
    return purged;
  }

  #purge(no: number, before: number): RemovedCall | undefined {
    const removed = this.#tables.calls.remove(no, before);
    if (removed !== undefined) this.#tables.callsOfRuns.remove(removed.runId, removed.tenant, removed.id);
    return removed;
  }

  /** An index that is not in use keeps them: a search may name calls that are no longer stored. */
  #removeFromIndex(calls: readonly RemovedCall[]): void {
    if (!this.#indexThread.isStarted) return;
    this.indexWriter.remove(calls).catch(() => {}); // Its next batch fails too, and is logged.
  }

  async copy(signal: AbortSignal): Promise<StoreCopy | null> {
    return await this.#tables.copies.make(signal);
  }

  async close(): Promise<void> {
    this.#closing ??= Promise.all([this.#tables.close(), this.#indexThread.close()]).then(() => {});
    await this.#closing;
  }
}
