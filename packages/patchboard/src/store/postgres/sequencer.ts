import { orderHash } from '../../core/ledger/ledger-order.ts';
import type { Digest } from '../../core/ports.ts';
import { byteaArray, int4Array, int8Array } from '../../postgres/arrays.ts';
import type { Connection, LimitedTransaction, Statement } from '../../postgres/connection.ts';
import { isDiskFull, isPrivilegeMissing, isReadOnly } from '../../postgres/sql-errors.ts';
import type { Tables } from './schema.ts';
import { endedIn, spansOf, writerValues, type SegmentRow, type Span } from './ledger-spans.ts';
import { addToTotals, totalsValues } from './totals.ts';

export interface SequencerParts {
  /** No other part uses it: its transactions must not contain other statements. */
  readonly connection: Connection;
  readonly tables: Tables;
  readonly digest: Digest;
}

/** The newest row of the ledger that has a sequence number. */
export interface SequencedHead {
  readonly seq: number;
  /** The hash of the newest span of the order, hexadecimal. */
  readonly orderHash: string;
}

interface HeadRow {
  readonly seq: number;
  readonly hash: Buffer;
}

/** Segments that get their sequence numbers in one transaction. */
const SEGMENTS_PER_PASS = 10_000;

/** Gives the committed rows of all writers their sequence numbers. */
export class Sequencer {
  readonly #parts: SequencerParts;
  readonly #check: Statement;
  readonly #lockHead: Statement;
  readonly #segments: Statement;
  readonly #write: Statement;
  #running: Promise<SequencedHead> | null = null;
  /** Begins after the running pass: its callers may have written after that one began. */
  #next: Promise<SequencedHead> | null = null;
  #seen = 0;

  constructor(parts: SequencerParts) {
    this.#parts = parts;
    const { ledger_head: head, ledger_order: order, segments, writers } = parts.tables;
    this.#check = {
      name: 'sequencer_check',
      text: `select seq, hash, exists (
          select 1 from ${writers} w join lateral (
            select 1 from ${segments} s where s.writer = w.writer and s.no > w.sequenced_no limit 1) s on true
        ) as behind from ${head}`,
    };
    this.#lockHead = { name: 'sequencer_lock', text: `select seq, hash from ${head} for update` };
    this.#segments = {
      name: 'sequencer_segments',
      // What follows from a commit has a higher lsn. The rows of a writer stay in order, also if the database was moved to
      // another server, where the lsn begins anew.
      text: `select s.writer, s.no, s.period, s.first, s.last, s.hash, s.ended
        from ${segments} s join ${writers} w on w.writer = s.writer and s.no > w.sequenced_no
        order by max(s.lsn) over (partition by s.writer order by s.no), s.writer, s.no
        limit ${SEGMENTS_PER_PASS}`,
    };
    this.#write = {
      name: 'sequencer_write',
      text: `with spans as (
          insert into ${order} (seq_from, seq_to, writer, period, first, last, hash)
          select * from unnest($1::int8[], $2::int8[], $3::int4[], $4::int4[], $5::int8[], $6::int8[], $7::bytea[])),
        ended as (
          ${addToTotals(parts.tables, 8)}),
        sequenced as (
          update ${writers} w set sequenced_no = x.no
          from unnest($11::int4[], $12::int8[]) as x (writer, no) where w.writer = x.writer),
        pruned as (
          delete from ${segments} s using unnest($11::int4[], $12::int8[]) as x (writer, no)
          where s.writer = x.writer and s.no < x.no)
        update ${head} set seq = $13, hash = $14`,
    };
  }

  /** The newest sequence number that this process knows. */
  get seen(): number {
    return this.#seen;
  }

  /** Resolves when every row that is committed now has its number. Callers share a pass that has not begun. */
  sequence(): Promise<SequencedHead> {
    if (this.#next !== null) return this.#next;
    if (this.#running === null) return this.#start();
    const startNext = (): Promise<SequencedHead> => {
      this.#next = null;
      return this.#start();
    };
    this.#next = this.#running.then(startNext, startNext);
    return this.#next;
  }

  #start(): Promise<SequencedHead> {
    const running = this.#run()
      .then((head) => {
        this.#seen = head.seq;
        return head;
      })
      .finally(() => {
        if (this.#running === running) this.#running = null;
      });
    this.#running = running;
    return running;
  }

  async #run(): Promise<SequencedHead> {
    const { connection } = this.#parts;
    const { rows } = await connection.query<HeadRow & { behind: boolean }>(this.#check);
    const head = rows[0];
    if (head === undefined) throw new Error('the table ledger_head has no row');
    if (!head.behind) return headOf(head);
    try {
      for (;;) {
        const { reached, isEnd } = await connection.transaction((transaction) => this.#pass(transaction));
        if (isEnd) return reached;
      }
    } catch (error) {
      // A reader without the right to write sees what other processes have sequenced; reads go on while the disk is full.
      if (isPrivilegeMissing(error) || isReadOnly(error) || isDiskFull(error)) return headOf(head);
      throw error;
    }
  }

  async #pass(transaction: LimitedTransaction): Promise<{ reached: SequencedHead; isEnd: boolean }> {
    const [head] = (await transaction.query<HeadRow>(this.#lockHead)).rows;
    if (head === undefined) throw new Error('the table ledger_head has no row');
    const { rows: segments } = await transaction.query<SegmentRow>(this.#segments);
    if (segments.length === 0) return { reached: headOf(head), isEnd: true };
    const spans = spansOf(segments, head.seq);
    const hashes = this.#hashesOf(spans, head.hash);
    const seq = spans.at(-1)?.to ?? head.seq;
    const hash = hashes.at(-1) ?? head.hash;
    // The statement locks the rows of the writers, which heartbeats update, so it goes with the commit.
    await transaction.commitWith(this.#write, [
      int8Array(spans.map(({ from }) => from)),
      int8Array(spans.map(({ to }) => to)),
      int4Array(spans.map(({ writer }) => writer)),
      int4Array(spans.map(({ period }) => period)),
      int8Array(spans.map(({ first }) => first)),
      int8Array(spans.map(({ last }) => last)),
      byteaArray(hashes),
      ...totalsValues(endedIn(segments)),
      ...writerValues(segments),
      seq,
      hash,
    ]);
    return { reached: headOf({ seq, hash }), isEnd: segments.length < SEGMENTS_PER_PASS };
  }

  #hashesOf(spans: readonly Span[], previous: Buffer): Buffer[] {
    let hash = previous.toString('hex');
    return spans.map((span) => {
      hash = orderHash(this.#parts.digest, hash, span, span.rowHash.toString('hex'));
      return Buffer.from(hash, 'hex');
    });
  }
}

function headOf({ seq, hash }: HeadRow): SequencedHead {
  return { seq, orderHash: hash.toString('hex') };
}
