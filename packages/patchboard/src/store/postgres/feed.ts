import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../core/failures.ts';
import type { CommittedRow, Log } from '../../core/ports.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import { Watchers } from '../watchers.ts';
import type { LedgerReader } from './ledger-reader.ts';
import type { Tables } from './schema.ts';
import type { Sequencer } from './sequencer.ts';

export interface LedgerFeedParts {
  readonly reader: Queryable;
  readonly tables: Tables;
  readonly sequencer: Pick<Sequencer, 'sequence' | 'seen'>;
  readonly ledger: Pick<LedgerReader, 'read'>;
  /** Returns the last ledger row of this process's writer whose write has resolved; `no` is 0 if the writer has none. */
  readonly position: () => { readonly writer: number; readonly no: number };
  readonly log?: Log | undefined;
}

/** Other processes may write too, and a read may have failed. */
const POLL_MS = 1000;
/** Rows that are committed within this time are read together. */
const GAP_MS = 10;
const PAGE = 500;

interface Watch {
  readonly position: { readonly writer: number; readonly no: number };
  /** The newest sequence number that this process knew when the watch began. */
  readonly seen: number;
  /** The last row that the listener was called with, or must not be called with; null until it is known. */
  after: number | null;
}

/** Calls listeners with the rows that are committed after they began to watch. Reads nothing without listeners. */
export class LedgerFeed {
  readonly #parts: LedgerFeedParts;
  readonly #start: Statement;
  readonly #watchers: Watchers = new Watchers();
  readonly #watches: Set<Watch> = new Set();
  #timer: NodeJS.Timeout | null = null;
  #isDue = false;
  /** Each outage is logged once. */
  #hasFailed = false;
  #reading: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: LedgerFeedParts) {
    this.#parts = parts;
    const { ledger_order: order } = parts.tables;
    this.#start = {
      name: 'feed_start',
      // Rows of other writers that were sequenced before the watch began are skipped, the own rows after the position never.
      text: `select case when $2::int8 = 0 or own.seq is not null
          then least(greatest($3::int8, own.seq), later.seq - 1) end as seq
        from (select (select seq_from + ($2::int8 - first) from ${order}
            where writer = $1 and first <= $2::int8 and last >= $2::int8 order by last limit 1) as seq) own,
          (select (select seq_from + greatest(first, $2::int8 + 1) - first from ${order}
            where writer = $1 and last > $2::int8 order by last limit 1) as seq) later`,
    };
  }

  watch(listener: (committed: CommittedRow) => void): () => void {
    const { position, sequencer } = this.#parts;
    const watch: Watch = { position: position(), seen: sequencer.seen, after: null };
    this.#watches.add(watch);
    const end = this.#watchers.add((committed) => {
      const { seq } = committed.row;
      if (watch.after === null || seq <= watch.after) return;
      watch.after = seq;
      listener(committed);
    });
    this.#timer ??= setInterval(() => this.committed(), POLL_MS).unref();
    this.committed();
    return () => {
      end();
      this.#watches.delete(watch);
      if (this.#watches.size === 0) this.#stopPolling();
    };
  }

  /** Must be called after each commit. */
  committed(): void {
    if (this.#isClosed || this.#watchers.isIdle) return;
    this.#isDue = true;
    this.#reading ??= this.#readWhileDue().finally(() => {
      this.#reading = null;
    });
  }

  /** Resolves when nothing is read any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopPolling();
    await this.#reading;
  }

  async #readWhileDue(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      try {
        await this.#read();
        this.#hasFailed = false;
      } catch (error) {
        // No row is lost: the next poll reads the same rows.
        if (!this.#isClosed && !this.#hasFailed)
          this.#parts.log?.warn('store.watch_failed', { error: messageOf(error) });
        this.#hasFailed = true;
      }
      if (this.#isDue) await pause(GAP_MS);
    }
  }

  async #read(): Promise<void> {
    await this.#findStarts();
    for (;;) {
      const after = Math.min(...[...this.#watches].map((watch) => watch.after ?? Infinity));
      if (after === Infinity || this.#isClosed) return;
      const rows = await this.#parts.ledger.read({}, after, PAGE);
      if (!this.#isClosed) this.#watchers.notify(rows);
      if (rows.length < PAGE) return;
    }
  }

  /**
   * A write that resolved before the watch began is sequenced before every later one of this process. Of other processes,
   * rows that were committed shortly before the watch began may be passed to the listener too.
   */
  async #findStarts(): Promise<void> {
    const starting = [...this.#watches].filter(({ after }) => after === null);
    if (starting.length === 0) return;
    await this.#parts.sequencer.sequence();
    for (const watch of starting) {
      const { position, seen } = watch;
      const values = [position.writer, position.no, seen];
      const { rows } = await this.#parts.reader.query<{ seq: number | null }>(this.#start, values);
      watch.after = rows[0]?.seq ?? null;
    }
  }

  #stopPolling(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
