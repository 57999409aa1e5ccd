import {
  GENESIS,
  chainHash,
  type LedgerDraft,
  type LedgerKind,
  type LedgerRow,
} from '../../core/ledger/ledger.ts';
import type { Digest, LedgerHead } from '../../core/ports.ts';

/** The fraction of the limit that is dropped at a time. */
const DROPPED_AT_ONCE = 1 / 4;

/**
 * A hash chain that keeps the newest rows. Hashes are computed when they are first read, because most in-memory stores
 * never read them. If rows are dropped before any was read, the chain starts anew with the first kept row; otherwise it
 * continues from the last dropped one.
 */
export class MemoryChain {
  readonly #digest: Digest;
  /** Minimum number of kept rows. */
  readonly #limit: number;
  readonly #maxRows: number;
  #drafts: LedgerDraft[] = [];
  /** The hashes of the first drafts, as far as they were computed. */
  #hashes: string[] = [];
  #start: { readonly seq: number; readonly hash: string } = { seq: 0, hash: GENESIS };
  /** The hashes of the last dropped rows, because a reader may still hold some of these rows. */
  #droppedHashes: readonly string[] = [];
  #wasRead = false;

  constructor(digest: Digest, limit: number) {
    this.#digest = digest;
    this.#limit = limit;
    this.#maxRows = limit + Math.ceil(limit * DROPPED_AT_ONCE);
  }

  /** The sequence of the newest row. */
  get last(): number {
    return this.#start.seq + this.#drafts.length;
  }

  get head(): LedgerHead {
    const { last: seq } = this;
    const hash = this.hashOf(seq);
    return this.#start.seq === 0 ? { seq, hash } : { seq, hash, start: this.#start };
  }

  add(entries: readonly LedgerDraft[]): void {
    for (const entry of entries) this.#drafts.push(entry);
  }

  /** Drops the oldest rows if there are too many. */
  trim(): void {
    if (this.#drafts.length > this.#maxRows) this.#drop(this.#drafts.length - this.#limit);
  }

  /** Yields the rows after sequence `after`, in order. */
  *rows(after: number): Generator<LedgerRow> {
    this.#wasRead = true;
    for (let seq = Math.max(after, this.#start.seq) + 1; seq <= this.last; seq += 1) {
      const draft = this.#drafts[seq - this.#start.seq - 1];
      if (draft !== undefined) yield new ChainRow(draft, seq, this);
    }
  }

  /** Yields the kept rows of a kind without hashes, which then need not be computed when rows are dropped. */
  *drafts(kind: LedgerKind): Generator<LedgerDraft & { readonly seq: number }> {
    let { seq } = this.#start;
    for (const draft of this.#drafts) {
      seq += 1;
      if (draft.kind !== kind) continue;
      const { at, tenant, callId, traceId, body } = draft;
      yield { seq, at, tenant, kind, callId, traceId, body };
    }
  }

  hashOf(seq: number): string {
    const { seq: dropped, hash } = this.#start;
    if (seq <= dropped) return this.#droppedHash(seq);
    this.#wasRead = true;
    for (const draft of this.#drafts.slice(this.#hashes.length, seq - dropped)) {
      const previous = this.#hashes.at(-1) ?? hash;
      this.#hashes.push(chainHash(this.#digest, previous, dropped + this.#hashes.length + 1, draft));
    }
    return this.#hashes[seq - dropped - 1] ?? hash;
  }

  #droppedHash(seq: number): string {
    const { seq: dropped, hash } = this.#start;
    if (seq === dropped) return hash;
    const kept = this.#droppedHashes[this.#droppedHashes.length - 1 - (dropped - seq)];
    if (kept === undefined) throw new Error(`ledger row ${seq} was dropped`);
    return kept;
  }

  #drop(rows: number): void {
    const seq = this.#start.seq + rows;
    const hash = this.#wasRead ? this.hashOf(seq) : GENESIS;
    this.#droppedHashes = this.#hashes.slice(0, rows);
    this.#hashes = this.#hashes.slice(rows);
    this.#drafts = this.#drafts.slice(rows);
    this.#start = { seq, hash };
  }
}

/** A row with a lazily computed hash. */
class ChainRow implements LedgerRow {
  readonly seq: number;
  readonly at: number;
  readonly tenant: string;
  readonly kind: LedgerKind;
  readonly callId: string | null;
  readonly traceId: string | null;
  readonly body: string;
  readonly #chain: MemoryChain;

  constructor(draft: LedgerDraft, seq: number, chain: MemoryChain) {
    this.seq = seq;
    this.at = draft.at;
    this.tenant = draft.tenant;
    this.kind = draft.kind;
    this.callId = draft.callId;
    this.traceId = draft.traceId;
    this.body = draft.body;
    this.#chain = chain;
  }

  get hash(): string {
    return this.#chain.hashOf(this.seq);
  }
}
