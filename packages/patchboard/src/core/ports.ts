import type { CallStateName, InputIssueView, JsonSchema, Reason } from '@patchboard/wire';
import type { TokenStore } from './access/token-store.ts';
import type { Call } from './call/call.ts';
import type { DeviceDirectory } from './device-directory.ts';
import type { DocumentChange, DocumentStore } from './documents.ts';
import type { JournalStore } from './journals.ts';
import type { EventRowFilter, EventSlice } from './ledger/event-slice.ts';
import type { LedgerDraft, LedgerRow } from './ledger/ledger.ts';
import type { WriterHead } from './ledger/checkpoint.ts';
import type { LedgerSpan } from './ledger/ledger-order.ts';
import type { StoreChanges } from './store-changes.ts';
import type { StoredTool } from './tools/registered-tool.ts';
import type { MaybePromise } from './maybe-promise.ts';
import type { CallIndexWriter, CallSearch, RunningIndex } from './search/call-search.ts';
import type { IndexSource } from './search/index-source.ts';

/** Wall-clock time for records, monotonic time for timers. */
export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Monotonic milliseconds. Never jumps. */
  elapsed(): number;
  /** Runs `action` once after `ms`; the returned function cancels it. */
  after(ms: number, action: () => void): () => void;
  /** Resolves in a later turn of the event loop, after the work that is already queued. */
  turn(): Promise<void>;
}

export interface Ids {
  /** Time-ordered: an id made later sorts later, also within one millisecond. */
  next(prefix: 'tc_' | 'run_' | 'key_' | 'gr_' | 'ds_'): string;
  /** Unguessable; base64url. */
  secret(bits: 128 | 256): string;
  /** For jitter: at least 0, below 1. */
  random(): number;
}

/** The part of the heap whose exhaustion ends the process. */
export interface Heap {
  readonly limitBytes: number;
  usedBytes(): number;
}

export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface Digest {
  /** Hexadecimal SHA-256 of the UTF-8 bytes. */
  sha256(text: string): string;
}

/** Returns the validation errors, or null if the value is valid. */
export type Validator = (value: unknown) => readonly InputIssueView[] | null;

export type CompiledSchema =
  { readonly ok: true; readonly validate: Validator } | { readonly ok: false; readonly problem: Reason };

export interface Schemas {
  /**
   * `outside`: the schema is untrusted and is compiled under limits (size, depth, properties,
   * linear-time patterns, bounded recursion). Compiling is slow: do it once per contract, never per call.
   */
  compile(schema: JsonSchema, origin: 'own' | 'outside'): CompiledSchema;
}

export interface Run {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly createdAt: number;
  readonly cancelledAt: number | null;
}

export interface NewCall {
  readonly call: Call;
  /** Created in the same transaction if the tenant has no run with that id. */
  readonly run: Run;
  /** `scope` is unique per tenant, agent, tool and key. */
  readonly idempotency: {
    readonly scope: string;
    readonly bodyHash: string;
    readonly expiresAt: number;
  } | null;
  readonly entries: readonly LedgerDraft[];
}

export type Inserted =
  | { readonly kind: 'inserted' }
  /** The idempotency scope is in use (and not expired): nothing was written. */
  | { readonly kind: 'duplicate'; readonly callId: string; readonly bodyHash: string }
  /** The run belongs to another agent, or is cancelled: nothing was written. */
  | { readonly kind: 'run_refused'; readonly run: Run };

export type Replaced =
  | { readonly kind: 'replaced' }
  /**
   * Another writer committed first: nothing was written. `current` is the stored row; undefined if there is none.
   * `elsewhere`: another node holds the call, because it made the last move. Only a store that several nodes share sets it.
   */
  | { readonly kind: 'conflict'; readonly current: Call | undefined; readonly elsewhere?: true };

export interface CallFilter {
  readonly tenant: string;
  readonly runId?: string;
  readonly toolName?: string;
  readonly agentId?: string;
  /** Calls that this agent submitted, or that this client runs. */
  readonly askedOrRunBy?: { readonly agentId: string; readonly clientId: string | null };
  readonly states?: readonly CallStateName[];
  /** Created at or after, epoch milliseconds. */
  readonly since?: number;
  /** Created before, epoch milliseconds. */
  readonly until?: number;
}

/** Selects runs. Absent members match every run. */
export interface RunFilter {
  readonly tenant: string;
  readonly agentId?: string;
  /** Only runs with these ids. */
  readonly ids?: readonly string[];
  readonly isCancelled?: true;
  /** Created at or after, epoch milliseconds. */
  readonly since?: number;
  /** Created before, epoch milliseconds. */
  readonly until?: number;
}

/** Selects open calls of one tenant: of a run, or for a client to run. */
export interface OpenCallFilter {
  readonly tenant: string;
  readonly runId?: string;
  readonly clientId?: string;
}

export interface LedgerFilter {
  readonly tenant?: string;
  readonly callId?: string;
  readonly traceId?: string;
  readonly kinds?: readonly string[];
  /** Epoch milliseconds, from inclusive, to exclusive. */
  readonly from?: number;
  readonly to?: number;
}

/** Number of calls in each state; states without calls are left out. */
export type StateCounts = Readonly<Partial<Record<CallStateName, number>>>;

/** The newest row of the ledger. */
export interface LedgerHead {
  /** The newest sequence number; 0 if the ledger is empty. */
  readonly seq: number;
  /** The hash of the newest row. In a store with `readLedgerOrder` the hash of the newest span. */
  readonly hash: string;
  /** The last row that a bounded store has dropped. Absent if none was dropped. */
  readonly start?: { readonly seq: number; readonly hash: string };
}

export interface LedgerReadOptions {
  /** False: `call` is null in every row, and no call is read. Default: true. */
  readonly withCalls: boolean;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Pass it to the next request; null on the last page. */
  readonly nextCursor: string | null;
}

/** A run of a list. */
export interface ListedRun extends Run {
  /** Continues the list after this run. */
  readonly cursor: string;
}

/** A store throws this for a cursor that is not from a page of the same list. */
export class BadCursor extends Error {
  constructor() {
    super('this list has returned no such cursor');
    this.name = 'BadCursor';
  }
}

/** A ledger row with the call it is about; null if there is none or it is no longer stored. */
export interface CommittedRow {
  readonly row: LedgerRow;
  readonly call: Call | null;
}

/** A copy of a whole store. It exists until `remove` is called or the store is closed. */
export interface StoreCopy {
  readonly bytes: number;
  /** The newest ledger row in the copy. */
  readonly head: { readonly seq: number; readonly hash: string };
  read(): AsyncIterable<Uint8Array>;
  remove(): Promise<void>;
}

/**
 * Persistence. Every write is atomic, and its promise settles only after the write is durable. The methods that return
 * `MaybePromise` may return synchronously.
 * Ledger rows get their sequence number and hash at commit, in the order of the writes.
 * A write rejects with `StorageFull` if the disk is full, and with `StorageUnavailable` if the files are gone or the
 * database cannot be reached; both change nothing.
 */
export interface Store extends DocumentStore, JournalStore {
  insertCall(record: NewCall): MaybePromise<Inserted>;
  /**
   * Compare-and-set: replaces the row only if its stored version is `expectedVersion`.
   * `argsChanged`: also writes the arguments (after an operator's edit, or redaction at the end); otherwise they stay as stored.
   * `keepsHolder`: the node that holds the call keeps it, although another one makes this move.
   */
  replaceCall(
    call: Call,
    expectedVersion: number,
    entries: readonly LedgerDraft[],
    argsChanged?: boolean,
    keepsHolder?: boolean,
  ): MaybePromise<Replaced>;
  findCall(id: string): MaybePromise<Call | undefined>;
  /**
   * Returns the number of the node that holds the call, or ended it, as of this object, which the store has returned or
   * recorded; null if that is not known. Absent: only one node uses the store.
   */
  nodeOf?(call: Call): number | null;
  /** Newest first. A page of large calls has fewer. May scan many rows for rare matches, but yields to the event loop. */
  listCalls(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>>;
  /** Finds and counts ended calls by more than `listCalls` can. */
  readonly search?: CallSearch;
  /** Absent: the store needs no index for `search`. */
  readonly indexWriter?: CallIndexWriter;
  /** What the index is made from. Absent: from `readLedger`. */
  readonly indexSource?: IndexSource;
  /**
   * Starts writing the index beside this thread, if no other node writes it, and takes over from one that stops. `keepCallsMs`: how
   * long ended calls are kept; null: for ever. Absent: the caller writes with `indexWriter`.
   */
  startIndex?(keepCallsMs: number | null): RunningIndex;
  /** The open calls, or those that match, oldest first. */
  openCalls(of?: OpenCallFilter): AsyncIterable<Call>;

  /** Creates the run, or returns the existing one. */
  ensureRun(run: Run, entry: LedgerDraft): Promise<Run>;
  findRun(tenant: string, id: string): Promise<Run | undefined>;
  /** Newest first. May scan many rows for rare matches, but yields to the event loop. */
  listRuns(filter: RunFilter, cursor: string | null, limit: number): Promise<Page<ListedRun>>;
  /** Closes the run to new calls. Returns false if there is no such run or it was cancelled before. */
  cancelRun(tenant: string, id: string, at: number, entry: LedgerDraft): Promise<boolean>;

  /**
   * Inserts or replaces tools by tenant and name, with these documents, in one transaction. Returns the names that another
   * client of the tenant holds: if there are any, nothing is written. `isOnline`, only in a store with `changes`: devices
   * that are connected to this node offer the tools, so they are removed with the node, and `tools` does not return them.
   */
  saveTools(
    tools: readonly StoredTool[],
    entry: LedgerDraft,
    documents?: readonly DocumentChange[],
    isOnline?: boolean,
  ): Promise<readonly string[]>;
  /** `isOnline`: removes only what devices at this node offer; otherwise the tools and all their offers. */
  removeTools(
    keys: readonly { tenant: string; name: string }[],
    entry: LedgerDraft,
    documents?: readonly DocumentChange[],
    isOnline?: boolean,
  ): Promise<void>;
  tools(): Promise<readonly StoredTool[]>;
  /**
   * Reads what was changed after a revision, by any node. Documents of the kind `todo` have no revision. Absent: only this
   * process changes the store.
   */
  changes?(after: number): Promise<StoreChanges>;
  /**
   * From now on, after the commit of a change with a revision, its promise resolves only after `distribute` has: the other
   * nodes have applied it then. Absent: only this process changes the store.
   */
  onChanged?(distribute: (revision: number) => Promise<void>): void;
  /** Tokens that all nodes accept. Absent: they are kept in the memory of this process. */
  readonly tokens?: TokenStore;
  /** Absent: all devices are connected to this process. */
  readonly devices?: DeviceDirectory;

  append(entries: readonly LedgerDraft[]): Promise<void>;
  /**
   * Reads rows in order of sequence, after `after`. Yields to the event loop, so that reading many pages does not block
   * it.
   */
  readLedger(
    filter: LedgerFilter,
    after: number,
    limit: number,
    options?: LedgerReadOptions,
  ): Promise<readonly CommittedRow[]>;
  /**
   * Reads a slice of the events after `after`: at most `limit` rows, from a bounded number of scanned rows, so that one call
   * does not block the event loop.
   */
  readEvents(filter: EventRowFilter, after: number, limit: number): Promise<EventSlice>;
  ledgerHead(): Promise<LedgerHead>;
  /**
   * Reads the order over the rows of several writers: the spans that end after sequence `after`, oldest first. Absent: the
   * ledger is one chain.
   */
  readLedgerOrder?(after: number, limit: number): Promise<readonly LedgerSpan[]>;
  /**
   * Returns the newest row of each writer up to sequence `seq`. Writers without one are left out. Absent: the ledger is one
   * chain.
   */
  readWriterHeads?(seq: number): Promise<readonly WriterHead[]>;
  /**
   * Calls `listener` with each committed row once, in order of sequence and soon after the commit: before or after the
   * write's promise settles. The returned function ends the subscription.
   */
  watch(listener: (committed: CommittedRow) => void): () => void;

  /**
   * Calls `listener` once, with text for an operator, if another process has taken over the store, or the store went back
   * to an earlier state: no write of this process succeeds any more. Absent: that cannot happen.
   */
  onFenced?(listener: (problem: string) => void): void;
  /** Returns why writes fail now, as text for an operator; null while they succeed. */
  writeProblem(): string | null;
  /** Returns the number of writes that wait for the next transaction. Absent: no write waits. */
  waitingWrites?(): number;
  /**
   * Number of open calls of the tenant in each state, whichever node holds them. May be slightly stale. Absent: the open
   * calls are those of this process.
   */
  countOpen?(tenant: string): Promise<StateCounts>;
  /**
   * Number of open calls of each of these runs, by state, whichever node holds them; null: of every run. Runs without open calls
   * are left out. Absent: the open calls are those of this process.
   */
  countOpenOfRuns?(
    tenant: string,
    runIds: readonly string[] | null,
  ): Promise<ReadonlyMap<string, StateCounts>>;
  /** Number of ended calls of the tenant in each state, without a scan. May be slightly stale. */
  countEnded(tenant: string): Promise<StateCounts>;
  /** Number of calls of all tenants in each state. May be slightly stale. */
  countByState(): Promise<StateCounts>;
  /**
   * Deletes at most `limit` calls that ended before `before`, or, in a store that is partitioned by time, one whole
   * partition; their ledger rows stay. Returns the number of deleted calls.
   */
  purgeCalls(before: number, limit: number): Promise<number>;
  /**
   * Makes a consistent copy while the store is used. Resolves to null if an earlier copy was not removed yet. Absent: the
   * store has no copies of its own. Rejects when `signal` aborts, and with `StorageFull` if there is no space for it.
   */
  copy?(signal: AbortSignal): Promise<StoreCopy | null>;
  close(): Promise<void>;
}
