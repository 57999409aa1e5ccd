import type { MaybePromise } from '../maybe-promise.ts';
import type { Digest, Store } from '../ports.ts';
import { writersHash, type WriterHead } from './checkpoint.ts';
import { chainHash, GENESIS, type LedgerRow } from './ledger.ts';
import { orderHash, type LedgerSpan } from './ledger-order.ts';

/** Checks the links of ledger rows, which are passed in by sequence and without a gap. */
export interface ChainCheck {
  /** Returns the problem of the row; null if there is none. */
  take(row: LedgerRow): MaybePromise<string | null>;
  /** The hash that the ledger's head must have if the last row taken is its newest. */
  readonly headHash: string;
  /** See `LedgerCheckpoint.writers`, for the last row taken. */
  readonly writersHash: string | null;
}

const CHANGED = 'the row was changed';

/** The ledger is one chain. `previous`: the hash before the first row. */
export class SingleChainCheck implements ChainCheck {
  readonly writersHash = null;
  readonly #digest: Digest;
  #previous: string;

  constructor(digest: Digest, previous: string) {
    this.#digest = digest;
    this.#previous = previous;
  }

  get headHash(): string {
    return this.#previous;
  }

  take(row: LedgerRow): string | null {
    if (row.hash !== chainHash(this.#digest, this.#previous, row.seq, row)) return CHANGED;
    this.#previous = row.hash;
    return null;
  }
}

/** Spans per page. */
const PAGE = 500;

/** Where a check of several chains begins. */
export interface OrderStart {
  /** The hash of the last span that ended. */
  readonly previous: string;
  /** The last row of each writer. */
  readonly heads: readonly WriterHead[];
  /** The span of the next row, if the rows before it are not taken. Null: the next row begins a span. */
  readonly span: LedgerSpan | null;
}

const FIRST_ROW: OrderStart = { previous: GENESIS, heads: [], span: null };

/** The ledger has a chain for each writer, and an order over their rows. */
export class OrderedChainsCheck implements ChainCheck {
  readonly #digest: Digest;
  readonly #readOrder: NonNullable<Store['readLedgerOrder']>;
  /** The last row taken of each writer. */
  readonly #writers: Map<number, WriterHead>;
  /** Spans that were read and not used yet. */
  #spans: LedgerSpan[] = [];
  /** The span of the next row; null: the next one that is read. */
  #span: LedgerSpan | null;
  #previous: string;

  constructor(
    digest: Digest,
    readOrder: NonNullable<Store['readLedgerOrder']>,
    { previous, heads, span }: OrderStart = FIRST_ROW,
  ) {
    this.#digest = digest;
    this.#readOrder = readOrder;
    this.#writers = new Map(heads.map((head) => [head.writer, head]));
    this.#span = span;
    this.#previous = previous;
  }

  get headHash(): string {
    return this.#previous;
  }

  get writersHash(): string {
    return writersHash(this.#digest, this.#writers.values());
  }

  async take(row: LedgerRow): Promise<string | null> {
    const span = this.#span ?? (await this.#nextSpan(row.seq - 1));
    if (span === undefined) return 'the order of the writers has no entry for the row';
    const previous = this.#writers.get(span.writer) ?? { no: 0, hash: GENESIS };
    if (this.#span === null && !isNext(span, row.seq, previous.no + 1))
      return 'the order of the writers was changed';
    this.#span = span;
    const no = previous.no + 1;
    if (row.place?.writer !== span.writer || row.place.no !== no)
      return 'the row is not the one that the order of the writers names';
    if (row.hash !== chainHash(this.#digest, previous.hash, no, row)) return CHANGED;
    this.#writers.set(span.writer, { writer: span.writer, no, hash: row.hash });
    return row.seq < span.to ? null : this.#endSpan(span, row.hash);
  }

  #endSpan(span: LedgerSpan, writerHash: string): string | null {
    if (span.hash !== orderHash(this.#digest, this.#previous, span, writerHash))
      return 'the order of the writers was changed';
    this.#previous = span.hash;
    this.#span = null;
    return null;
  }

  async #nextSpan(after: number): Promise<LedgerSpan | undefined> {
    if (this.#spans.length === 0) this.#spans = [...(await this.#readOrder(after, PAGE))];
    return this.#spans.shift();
  }
}

/** Whether the span begins with sequence `seq` and row `no` of its writer. */
function isNext({ from, to, first, last }: LedgerSpan, seq: number, no: number): boolean {
  return from === seq && first === no && to >= from && to - from === last - first;
}
