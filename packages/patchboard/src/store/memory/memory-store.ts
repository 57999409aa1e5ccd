import type { CallStateName } from '@patchboard/wire';
import { endedAt, isOpen, type Call } from '../../core/call/call.ts';
import type { DocumentChange, DocumentKind } from '../../core/documents.ts';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';
import type { EventRow, EventRowFilter, EventSlice } from '../../core/ledger/event-slice.ts';
import type { LedgerDraft, LedgerRow } from '../../core/ledger/ledger.ts';
import type {
  CallFilter,
  CommittedRow,
  Digest,
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
import type { StoredTool } from '../../core/tools/registered-tool.ts';
import type { MaybePromise } from '../../core/maybe-promise.ts';
import type { CallSearch } from '../../core/search/call-search.ts';
import { callPage } from '../call-pages.ts';
import { EndedCounts } from '../ended-counts.ts';
import { callCursor } from '../cursors.ts';
import { MemoryChain } from './chain.ts';
import { MemoryClientTools } from './client-tools.ts';
import { EndedCalls } from './ended-calls.ts';
import { MemoryDocuments } from './documents.ts';
import { matchesOpen } from '../open-call-filter.ts';
import { matchesCall, matchesEvent, matchesRow } from './filters.ts';
import { MemoryIdempotencyKeys } from './idempotency-keys.ts';
import { MemoryJournals } from './journals.ts';
import { MemorySearch } from './memory-search.ts';
import { MemoryRuns } from './runs.ts';
import { Turns } from '../turns.ts';
import { Watchers } from '../watchers.ts';

export interface MemoryStoreOptions {
  readonly digest: Digest;
  /**
   * Maximum number of ended calls; the oldest are dropped, with their idempotency keys, and a run with its last call. The
   * same limit applies to runs without calls and to journals; the ledger keeps `ROWS_PER_CALL` rows per call.
   * Default: no limit.
   */
  readonly retain?: number;
}

/** More than the rows of an ordinary call, because refusals and changes of the registry have rows too. */
const ROWS_PER_CALL = 4;
/** Minimum number of ledger rows, also with a small `retain`: an approval reads its own row. */
const LEAST_ROWS = 1000;

/** A store in memory, without durability, for tests, simulation and embedding. */
export function memoryStore({ digest, retain = Infinity }: MemoryStoreOptions): Store {
  return new MemoryStore(digest, retain);
}

const INSERTED: Inserted = { kind: 'inserted' };
const REPLACED: Replaced = { kind: 'replaced' };
const WITH_CALLS: LedgerReadOptions = { withCalls: true };

/** Maximum number of rows scanned for one slice of events. */
const WINDOW = 1024;

class MemoryStore implements Store {
  readonly search: CallSearch;
  readonly #calls: Map<string, Call> = new Map();
  readonly #ended: EndedCalls;
  readonly #counts: EndedCounts = new EndedCounts();
  readonly #runs: MemoryRuns;
  readonly #keys: MemoryIdempotencyKeys = new MemoryIdempotencyKeys();
  readonly #tools: MemoryClientTools = new MemoryClientTools();
  readonly #documents: MemoryDocuments = new MemoryDocuments();
  readonly #journals: MemoryJournals;
  readonly #chain: MemoryChain;
  readonly #watchers: Watchers = new Watchers();
  readonly #turns: Turns = new Turns();

  constructor(digest: Digest, retain: number) {
    this.#ended = new EndedCalls(retain);
    this.#runs = new MemoryRuns(retain);
    this.#journals = new MemoryJournals(retain);
    this.#chain = new MemoryChain(digest, Math.max(LEAST_ROWS, retain * ROWS_PER_CALL));
    const chain = this.#chain;
    this.search = new MemorySearch({
      calls: () => this.#calls.values(),
      refusedRows: () => chain.drafts('call.refused'),
      get position() {
        return chain.last;
      },
    });
  }

  insertCall(record: NewCall): MaybePromise<Inserted> {
    const used = this.#keys.usedBefore(record);
    if (used !== undefined) return { kind: 'duplicate', callId: used.callId, bodyHash: used.bodyHash };
    const { call, run, entries } = record;
    const refusing = this.#runs.addCall(run);
    if (refusing !== null) return { kind: 'run_refused', run: refusing };
    if (this.#calls.has(call.id)) {
      this.#runs.removeCall(run.tenant, run.id);
      return Promise.reject(new Error(`call ${call.id} is stored already`));
    }
    this.#keys.add(record);
    this.#calls.set(call.id, call);
    this.#write(entries);
    if (!isOpen(call)) this.#retire(call);
    return INSERTED;
  }

  replaceCall(call: Call, expectedVersion: number, entries: readonly LedgerDraft[]): Replaced {
    const current = this.#calls.get(call.id);
    if (current?.version !== expectedVersion) return { kind: 'conflict', current };
    this.#calls.set(call.id, call);
    this.#write(entries);
    if (!isOpen(call)) this.#retire(call);
    return REPLACED;
  }

  findCall(id: string): Call | undefined {
    return this.#calls.get(id);
  }

  async listCalls(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>> {
    const before = cursor === null ? null : callCursor(cursor);
    const found = [...this.#calls.values()]
      .filter((call) => (before === null || call.id < before) && matchesCall(call, filter))
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    return callPage(found, limit, (call) => call);
  }

  async *openCalls(of?: OpenCallFilter): AsyncIterable<Call> {
    const found = [...this.#calls.values()].filter((call) => isOpen(call) && matchesOpen(call, of));
    const ids = found.map((call) => call.id);
    for (const id of ids.sort()) {
      const call = this.#calls.get(id);
      if (call !== undefined && isOpen(call)) yield call;
    }
  }

  async ensureRun(run: Run, entry: LedgerDraft): Promise<Run> {
    const existing = this.#runs.find(run.tenant, run.id);
    if (existing !== undefined) return existing;
    this.#runs.add(run);
    this.#write([entry]);
    return run;
  }

  async findRun(tenant: string, id: string): Promise<Run | undefined> {
    return this.#runs.find(tenant, id);
  }

  async listRuns(filter: RunFilter, cursor: string | null, limit: number): Promise<Page<ListedRun>> {
    return this.#runs.page(filter, cursor, limit);
  }

  async cancelRun(tenant: string, id: string, at: number, entry: LedgerDraft): Promise<boolean> {
    if (!this.#runs.cancel(tenant, id, at)) return false;
    this.#write([entry]);
    return true;
  }

  async saveTools(
    tools: readonly StoredTool[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
  ): Promise<readonly string[]> {
    const held = this.#tools.save(tools);
    if (held.length > 0) return held;
    this.#documents.change(documents);
    this.#write([entry]);
    return held;
  }

  async removeTools(
    keys: readonly { tenant: string; name: string }[],
    entry: LedgerDraft,
    documents: readonly DocumentChange[] = [],
  ): Promise<void> {
    this.#tools.remove(keys);
    this.#documents.change(documents);
    this.#write([entry]);
  }

  async tools(): Promise<readonly StoredTool[]> {
    return this.#tools.all();
  }

  async putDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
    others: readonly DocumentChange[] = [],
  ): Promise<void> {
    this.#documents.change([{ kind, id, body }, ...others]);
    this.#write(entries);
  }

  async addDocument(
    kind: DocumentKind,
    id: string,
    body: string,
    entries: readonly LedgerDraft[],
  ): Promise<boolean> {
    if (this.#documents.one(kind, id) !== undefined) return false;
    await this.putDocument(kind, id, body, entries);
    return true;
  }

  async deleteDocument(kind: DocumentKind, id: string, entries: readonly LedgerDraft[]): Promise<void> {
    this.#documents.change([{ kind, id, body: null }]);
    this.#write(entries);
  }

  async document(kind: DocumentKind, id: string): Promise<string | undefined> {
    return this.#documents.one(kind, id);
  }

  async documents(kind: DocumentKind): Promise<readonly { readonly id: string; readonly body: string }[]> {
    return this.#documents.all(kind);
  }

  async appendJournal(journal: string, after: number, entries: readonly JournalDraft[]): Promise<boolean> {
    return this.#journals.append(journal, after, entries);
  }

  async readJournal(
    journal: string,
    after: number,
    limit: number,
    kinds?: readonly string[],
  ): Promise<readonly JournalEntry[]> {
    const found = this.#journals.read(journal, after, limit, kinds);
    await this.#turns.after(found.length);
    return found;
  }

  async append(entries: readonly LedgerDraft[]): Promise<void> {
    this.#write(entries);
  }

  async readLedger(
    filter: LedgerFilter,
    after: number,
    limit: number,
    { withCalls }: LedgerReadOptions = WITH_CALLS,
  ): Promise<readonly CommittedRow[]> {
    const found: CommittedRow[] = [];
    let scanned = 0;
    for (const row of this.#chain.rows(after)) {
      if (found.length >= limit) break;
      scanned += 1;
      if (matchesRow(row, filter)) found.push(withCalls ? this.#committed(row) : { row, call: null });
    }
    await this.#turns.after(scanned);
    return found;
  }

  async readEvents(filter: EventRowFilter, after: number, limit: number): Promise<EventSlice> {
    const rows: EventRow[] = [];
    let scanned = 0;
    let reached = after;
    for (const row of this.#chain.rows(after)) {
      if (rows.length >= limit || scanned >= WINDOW) break;
      scanned += 1;
      reached = row.seq;
      const committed = this.#committed(row);
      if (matchesEvent(committed, filter)) rows.push(committed);
    }
    return { rows, reached, isEnd: reached >= this.#chain.last };
  }

  async ledgerHead(): Promise<LedgerHead> {
    return this.#chain.head;
  }

  watch(listener: (committed: CommittedRow) => void): () => void {
    return this.#watchers.add(listener);
  }

  writeProblem(): null {
    return null;
  }

  async countEnded(tenant: string): Promise<StateCounts> {
    return { ...this.#counts.of(tenant) };
  }

  async countByState(): Promise<StateCounts> {
    const counts: Partial<Record<CallStateName, number>> = {};
    for (const { state } of this.#calls.values()) counts[state.name] = (counts[state.name] ?? 0) + 1;
    return counts;
  }

  async purgeCalls(before: number, limit: number): Promise<number> {
    let purged = 0;
    for (const call of this.#calls.values()) {
      if (purged >= limit) break;
      if ((endedAt(call) ?? Infinity) >= before) continue;
      this.#drop(call);
      purged += 1;
    }
    if (purged > 0) this.#ended.keep(({ id }) => this.#calls.has(id));
    return purged;
  }

  async close(): Promise<void> {}

  #write(entries: readonly LedgerDraft[]): void {
    const { last: before } = this.#chain;
    this.#chain.add(entries);
    if (!this.#watchers.isIdle)
      this.#watchers.notify([...this.#chain.rows(before)].map((row) => this.#committed(row)));
    this.#chain.trim();
  }

  #retire(call: Call): void {
    this.#counts.add(call.tenant, call.state.name, 1);
    const oldest = this.#ended.add(call);
    if (oldest !== undefined) this.#drop(oldest);
  }

  /** Removes a call with its idempotency key, and its run if it was the last call. Ledger rows have their own limit. */
  #drop({ id, tenant, runId, state }: Call): void {
    if (!this.#calls.delete(id)) return;
    this.#counts.add(tenant, state.name, -1);
    this.#keys.remove(id);
    this.#runs.removeCall(tenant, runId);
  }

  #committed(row: LedgerRow): CommittedRow {
    return { row, call: row.callId === null ? null : (this.#calls.get(row.callId) ?? null) };
  }
}
