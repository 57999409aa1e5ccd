import type { DeviceDirectory } from '../../core/device-directory.ts';
import type { TokenStore } from '../../core/access/token-store.ts';
import { StorageUnavailable } from '../../core/failures.ts';
import type { Call } from '../../core/call/call.ts';
import type { DocumentChange, DocumentKind } from '../../core/documents.ts';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';
import type { EventRowFilter, EventSlice } from '../../core/ledger/event-slice.ts';
import type { WriterHead } from '../../core/ledger/checkpoint.ts';
import type { LedgerSpan } from '../../core/ledger/ledger-order.ts';
import type { LedgerDraft } from '../../core/ledger/ledger.ts';
import type {
  CallFilter,
  CommittedRow,
  Inserted,
  LedgerFilter,
  LedgerHead,
  LedgerReadOptions,
  ListedRun,
  NewCall,
  OpenCallFilter,
  Page,
  Replaced,
  Run,
  RunFilter,
  StateCounts,
  Store,
} from '../../core/ports.ts';
import type { CallSearch, RunningIndex } from '../../core/search/call-search.ts';
import type { StoreChanges } from '../../core/store-changes.ts';
import type { StoredTool } from '../../core/tools/registered-tool.ts';
import type { Transaction } from '../../postgres/connection.ts';
import { ensureRun, cancelRun } from './run-writes.ts';
import { hasRevision } from './revisions.ts';
import type { SharedStore } from './shared-store.ts';
import type { StoreParts } from './store-parts.ts';
import type { OtherWrite } from './write.ts';

/** After this time `close` does not wait for replies of the database any more. */
const CLOSE_MS = 5000;

/** A store in PostgreSQL. */
export class PostgresStore implements Store {
  readonly tokens?: TokenStore;
  readonly devices?: DeviceDirectory;
  readonly search: CallSearch;
  readonly #parts: StoreParts;
  #closing: Promise<void> | null = null;
  #distribute: ((revision: number) => Promise<void>) | null = null;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.search = parts.search;
    if (parts.tokens !== undefined) this.tokens = parts.tokens;
    if (parts.devices !== undefined) this.devices = parts.devices;
  }

  /** What the nodes that share this store need; null if only one node may use it. */
  get shared(): SharedStore | null {
    return this.#parts.shared;
  }

  /** Calls `listener` once this process can write no more: see `WriterLost`. */
  onFenced(listener: (problem: string) => void): () => void {
    return this.#parts.onLost(({ message }) => listener(message));
  }

  async insertCall(record: NewCall): Promise<Inserted> {
    const outcome = await this.#parts.queue.push({ kind: 'insert', record });
    switch (outcome.kind) {
      case 'inserted':
      case 'duplicate':
      case 'run_refused':
        return outcome;
      default:
        throw new Error(`an insert ended with ${outcome.kind}`);
    }
  }

  async replaceCall(
    call: Call,
    expectedVersion: number,
    entries: readonly LedgerDraft[],
    argsChanged = false,
    keepsHolder = false,
  ): Promise<Replaced> {
    const write = { kind: 'replace', call, expectedVersion, entries, argsChanged, keepsHolder } as const;
    const outcome = await this.#parts.queue.push(write);
    if (keepsHolder) this.#parts.calls.holders.keeps(call);
    if (outcome.kind === 'replaced') return outcome;
    const found = await this.#parts.calls.findStored(call.id);
    const isElsewhere =
      this.#parts.shared !== null && found !== undefined && found.owner !== this.#parts.node.writer;
    return {
      kind: 'conflict',
      current: found?.call,
      ...(isElsewhere ? { elsewhere: true as const } : {}),
    };
  }

  async findCall(id: string): Promise<Call | undefined> {
    return await this.#parts.calls.find(id);
  }

  nodeOf(call: Call): number | null {
    const { shared, calls, node } = this.#parts;
    return shared === null ? null : calls.holders.of(call, node.writer);
  }

  async listCalls(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>> {
    return await this.#parts.lists.listCalls(filter, cursor, limit);
  }

  startIndex(keepCallsMs: number | null): RunningIndex {
    return this.#parts.startIndex(keepCallsMs);
  }

  openCalls(of?: OpenCallFilter): AsyncIterable<Call> {
    return of === undefined ? this.#parts.calls.openCalls() : this.#parts.calls.openCallsOf(of);
  }

  async ensureRun(run: Run, entry: LedgerDraft): Promise<Run> {
    return await this.#write(async (transaction) => {
      const ensured = await ensureRun(transaction, this.#parts.tables, run);
      return { value: ensured.run, entries: ensured.isNew ? [entry] : [] };
    });
  }

  async findRun(tenant: string, id: string): Promise<Run | undefined> {
    return await this.#parts.runs.findRun(tenant, id);
  }

  async listRuns(filter: RunFilter, cursor: string | null, limit: number): Promise<Page<ListedRun>> {
    return await this.#parts.runs.listRuns(filter, cursor, limit);
  }

  async cancelRun(tenant: string, id: string, at: number, entry: LedgerDraft): Promise<boolean> {
    return await this.#write(async (transaction) => {
      const value = await cancelRun(transaction, this.#parts.tables, { tenant, id, at });
      return { value, entries: value ? [entry] : [] };
    });
  }

  async saveTools(
    tools: readonly StoredTool[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
    isOnline = false,
  ): Promise<readonly string[]> {
    const hasChanges = tools.length > 0 || documents.some(hasRevision);
    return await this.#change(hasChanges, async (transaction, revision) => {
      const { tools: table, documents: own, node } = this.#parts;
      const held =
        revision === null ? [] : await table.save(transaction, tools, revision, isOnline ? node : null);
      if (held.length > 0) return { value: held, entries: [] };
      await own.change(transaction, documents, revision);
      return { value: held, entries: [entry] };
    });
  }

  async removeTools(
    keys: readonly { tenant: string; name: string }[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
    isOnline = false,
  ): Promise<void> {
    const hasChanges = keys.length > 0 || documents.some(hasRevision);
    await this.#change(hasChanges, async (transaction, revision) => {
      const { tools: table, documents: own, node } = this.#parts;
      if (revision !== null) await table.remove(transaction, keys, revision, isOnline ? node : null);
      await own.change(transaction, documents, revision);
      return { value: undefined, entries: [entry] };
    });
  }

  async tools(): Promise<readonly StoredTool[]> {
    return await this.#parts.tools.kept(this.#parts.reader);
  }

  async changes(after: number): Promise<StoreChanges> {
    const { revisions, reader, node } = this.#parts;
    return await revisions.changes(reader, after, node.writer);
  }

  get appliesChanges(): boolean {
    return this.#distribute !== null;
  }

  onChanged(distribute: (revision: number) => Promise<void>): void {
    this.#distribute = distribute;
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

  async addDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
  ): Promise<boolean> {
    return await this.#change(hasRevision({ kind }), async (transaction, revision) => {
      const value = await this.#parts.documents.add(transaction, { kind, id, body }, revision);
      return { value, entries: value ? entries : [] };
    });
  }

  async deleteDocument(kind: DocumentKind, id: string, entries: readonly LedgerDraft[]): Promise<void> {
    await this.#changeDocuments([{ kind, id, body: null }], entries);
  }

  async #changeDocuments(changes: readonly DocumentChange[], entries: readonly LedgerDraft[]): Promise<void> {
    await this.#change(changes.some(hasRevision), async (transaction, revision) => {
      await this.#parts.documents.change(transaction, changes, revision);
      return { value: undefined, entries };
    });
  }

  /** Commits a change, with a revision if it has one, and waits until it is distributed. */
  async #change<T>(
    hasOwnRevision: boolean,
    run: (
      transaction: Transaction,
      revision: number | null,
    ) => Promise<{ readonly value: T; readonly entries: readonly LedgerDraft[] }>,
  ): Promise<T> {
    const { value, revision } = await this.#write(async (transaction) => {
      const next = hasOwnRevision ? await this.#parts.revisions.next(transaction) : null;
      const changed = await run(transaction, next);
      return { value: { value: changed.value, revision: next }, entries: changed.entries };
    });
    if (revision !== null) await this.#distribute?.(revision);
    return value;
  }

  async document(kind: DocumentKind, id: string): Promise<string | undefined> {
    return await this.#parts.documents.one(this.#parts.reader, kind, id);
  }

  async documents(kind: DocumentKind): Promise<readonly { readonly id: string; readonly body: string }[]> {
    return await this.#parts.documents.all(this.#parts.reader, kind);
  }

  async appendJournal(journal: string, after: number, entries: readonly JournalDraft[]): Promise<boolean> {
    return await this.#write(async (transaction) => {
      const value = await this.#parts.documents.appendJournal(transaction, journal, after, entries);
      return { value, entries: [] };
    });
  }

  async readJournal(
    journal: string,
    after: number,
    limit: number,
    kinds?: readonly string[],
  ): Promise<readonly JournalEntry[]> {
    return await this.#parts.documents.readJournal(this.#parts.reader, journal, after, limit, kinds);
  }

  async append(entries: readonly LedgerDraft[]): Promise<void> {
    await this.#parts.queue.push({ kind: 'append', entries });
  }

  async readLedger(
    filter: LedgerFilter,
    after: number,
    limit: number,
    options?: LedgerReadOptions,
  ): Promise<readonly CommittedRow[]> {
    return await this.#parts.ledger.read(filter, after, limit, options);
  }

  async readEvents(filter: EventRowFilter, after: number, limit: number): Promise<EventSlice> {
    return await this.#parts.events.read(filter, after, limit);
  }

  async ledgerHead(): Promise<LedgerHead> {
    return await this.#parts.ledger.head();
  }

  async readLedgerOrder(after: number, limit: number): Promise<readonly LedgerSpan[]> {
    return await this.#parts.ledger.order(after, limit);
  }

  async readWriterHeads(seq: number): Promise<readonly WriterHead[]> {
    return await this.#parts.ledger.writerHeads(seq);
  }

  watch(listener: (committed: CommittedRow) => void): () => void {
    return this.#parts.feed.watch(listener);
  }

  writeProblem(): string | null {
    return this.#parts.writeProblem();
  }

  waitingWrites(): number {
    return this.#parts.queue.waiting;
  }

  async countOpen(tenant: string): Promise<StateCounts> {
    return await this.#parts.counts.countOpen(tenant);
  }

  async countOpenOfRuns(
    tenant: string,
    runIds: readonly string[] | null,
  ): Promise<ReadonlyMap<string, StateCounts>> {
    return await this.#parts.counts.countOpenOfRuns(tenant, runIds);
  }

  async countEnded(tenant: string): Promise<StateCounts> {
    return await this.#parts.counts.countEnded(tenant);
  }

  async countByState(): Promise<StateCounts> {
    return await this.#parts.counts.countByState();
  }

  async purgeCalls(before: number, limit: number): Promise<number> {
    return await this.#parts.retention.purgeCalls(before, limit);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    const { queue } = this.#parts;
    queue.stop(new StorageUnavailable('the store is closed'));
    const overdue = setTimeout(() => this.#parts.abandon(), CLOSE_MS);
    try {
      await queue.idle();
      await this.#parts.close();
    } finally {
      clearTimeout(overdue);
    }
  }

  /** Commits a change in a transaction of its own, with its ledger rows. */
  async #write<T>(
    run: (
      transaction: Transaction,
    ) => Promise<{ readonly value: T; readonly entries: readonly LedgerDraft[] }>,
  ): Promise<T> {
    const write: OtherWrite = { kind: 'other', run };
    const outcome = await this.#parts.queue.push(write);
    // `run` returned the value.
    return (outcome as { readonly value: T }).value;
  }
}
