import type { CallStateName, InputIssueView, JsonSchema } from '@patchboard/wire';
import type { Call } from './call/call.ts';
import type { DocumentChange, DocumentStore } from './documents.ts';
import type { JournalStore } from './journals.ts';
import type { EventRowFilter, EventSlice } from './ledger/event-slice.ts';
import type { LedgerDraft, LedgerRow } from './ledger/ledger.ts';
import type { StoredTool } from './tools/registered-tool.ts';
import type { MaybePromise } from './maybe-promise.ts';

/** Wall time for records, monotonic time for waiting. */
export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds since some start. Never jumps. */
  elapsed(): number;
  /** Runs `action` once after `ms`; the answer calls it off. */
  after(ms: number, action: () => void): () => void;
  /** Resolves in a later turn of the event loop: what waits there by now goes first. */
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

/** The part of the heap that the process ends for when it is full. */
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

/** Answers with what is wrong, or null when nothing is. */
export type Validator = (value: unknown) => readonly InputIssueView[] | null;

export type CompiledSchema =
  { readonly ok: true; readonly validate: Validator } | { readonly ok: false; readonly problem: string };

export interface Schemas {
  /**
   * `outside`: the schema comes from somebody else and is compiled under limits (size, depth, properties,
   * linear-time patterns, bounded recursion). Compiling is slow: once per contract, never per call.
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
  /** Made in the same transaction if the tenant has no run of that id. */
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
  /** The run exists and is another agent's, or is cancelled: nothing was written. */
  | { readonly kind: 'run_refused'; readonly run: Run };

export type Replaced =
  | { readonly kind: 'replaced' }
  /** Another writer committed first: nothing was written. `current` is the stored row; undefined if there is none. */
  | { readonly kind: 'conflict'; readonly current: Call | undefined };

export interface CallFilter {
  readonly tenant: string;
  readonly runId?: string;
  readonly toolName?: string;
  readonly agentId?: string;
  /** Asked for by this agent, or run by this client. */
  readonly askedOrRunBy?: { readonly agentId: string; readonly clientId: string | null };
  readonly states?: readonly CallStateName[];
  /** Created at or after, epoch milliseconds. */
  readonly since?: number;
  /** Created before, epoch milliseconds. */
  readonly until?: number;
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

/** Where the ledger ends. */
export interface LedgerHead {
  /** The newest sequence, 0 when empty. */
  readonly seq: number;
  readonly hash: string;
  /** A store that is bounded has dropped the rows up to this one. Absent: none was dropped. */
  readonly start?: { readonly seq: number; readonly hash: string };
}

export interface LedgerReadOptions {
  /** False: every `call` is null, and none is looked up. Default: true. */
  readonly withCalls: boolean;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Hand it back for the next page; null at the end. */
  readonly nextCursor: string | null;
}

/** What a store throws on a cursor that no page of that list handed out. */
export class BadCursor extends Error {
  constructor() {
    super('the cursor is not one that this list handed out');
    this.name = 'BadCursor';
  }
}

/** A ledger row together with the call it is about, as far as that is still stored. */
export interface CommittedRow {
  readonly row: LedgerRow;
  readonly call: Call | null;
}

/**
 * Durable memory. Every write is atomic, and its promise settles only after it is durable; a store that is done at
 * once may answer at once where calls are written and found.
 * Ledger rows get their sequence and hash at commit, in the order of the writes.
 * A write that finds no room rejects with `StorageFull`, and one whose files are gone with `StorageUnavailable`; both
 * change nothing.
 */
export interface Store extends DocumentStore, JournalStore {
  insertCall(record: NewCall): MaybePromise<Inserted>;
  /**
   * Compare-and-set: replaces the row only if its stored version is `expectedVersion`.
   * `argsChanged`: the arguments are rewritten too (an operator's edit, or redaction at the end); else they stay as stored.
   */
  replaceCall(
    call: Call,
    expectedVersion: number,
    entries: readonly LedgerDraft[],
    argsChanged?: boolean,
  ): MaybePromise<Replaced>;
  findCall(id: string): MaybePromise<Call | undefined>;
  /** Newest first, fewer where they are large. May scan far for rare matches, but never holds the thread for long. */
  listCalls(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>>;
  /** Calls that have not ended, oldest first: what a restart must look at. */
  openCalls(): AsyncIterable<Call>;

  /** Makes the run, or answers with the one that stands. */
  ensureRun(run: Run, entry: LedgerDraft): Promise<Run>;
  findRun(tenant: string, id: string): Promise<Run | undefined>;
  listRuns(tenant: string, agentId: string | null, cursor: string | null, limit: number): Promise<Page<Run>>;
  /** No new call may join it from now on. False if there is no such run or it was cancelled before. */
  cancelRun(tenant: string, id: string, at: number, entry: LedgerDraft): Promise<boolean>;

  /** Adds or replaces, keyed by tenant and name, with these documents in the same transaction. */
  saveTools(
    tools: readonly StoredTool[],
    entry: LedgerDraft,
    documents?: readonly DocumentChange[],
  ): Promise<void>;
  removeTools(
    keys: readonly { tenant: string; name: string }[],
    entry: LedgerDraft,
    documents?: readonly DocumentChange[],
  ): Promise<void>;
  tools(): Promise<readonly StoredTool[]>;

  append(entries: readonly LedgerDraft[]): Promise<void>;
  /** In order of sequence, after `after`. Whoever reads page after page does not hold the thread for long. */
  readLedger(
    filter: LedgerFilter,
    after: number,
    limit: number,
    options?: LedgerReadOptions,
  ): Promise<readonly CommittedRow[]>;
  /**
   * A slice of the events after `after`: `limit` rows at most, and few rows looked at however rare the matches are, so
   * that one call never holds the thread for long.
   */
  readEvents(filter: EventRowFilter, after: number, limit: number): Promise<EventSlice>;
  ledgerHead(): Promise<LedgerHead>;
  /**
   * Tells of each committed row once, in order of sequence and before the write's promise settles.
   * The answer ends it.
   */
  watch(listener: (committed: CommittedRow) => void): () => void;

  /** Why no write is accepted now, in words for an operator; null while writes are accepted. */
  writeProblem(): string | null;
  /** Number of ended calls of the tenant in each state, without a scan. May be a moment old. */
  countEnded(tenant: string): Promise<Readonly<Partial<Record<CallStateName, number>>>>;
  /** Number of calls of all tenants in each state. May be a moment old. */
  countByState(): Promise<Readonly<Partial<Record<CallStateName, number>>>>;
  /** Removes ended calls that ended before `before`, at most `limit`; ledger rows stay. Answers how many. */
  purgeCalls(before: number, limit: number): Promise<number>;
  close(): Promise<void>;
}
