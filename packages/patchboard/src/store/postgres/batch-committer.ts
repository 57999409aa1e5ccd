import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { messageOf, StorageUnavailable } from '../../core/failures.ts';
import type { Digest } from '../../core/ports.ts';
import type { Connection, Statement } from '../../postgres/connection.ts';
import { allInOrder } from '../../postgres/all-in-order.ts';
import { BatchChanges, RunForgotten } from './batch-changes.ts';
import type { Tables } from './schema.ts';
import {
  ledgerRowStatement,
  segmentAfter,
  segmentStatement,
  segmentValues,
  VOID,
  voidSegmentStatement,
  type Segment,
} from './segment.ts';
import type { Write, WriteOutcome } from './write.ts';
import { fenced, restored } from './writer-lost.ts';
import { segmentHead, type HeldWriter, type SegmentHead } from './writer-slot.ts';

export interface BatchCommitterParts {
  readonly connection: Connection;
  readonly tables: Tables;
  readonly held: HeldWriter;
  readonly digest: Digest;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called while a commit is in doubt and the database cannot be reached. */
  readonly unavailable: (error: StorageUnavailable) => void;
}

/** A commit that was sent, and whose reply has not arrived. `outcomes` hold if the server made it. */
interface InDoubtCommit {
  readonly segment: Segment;
  readonly outcomes: readonly WriteOutcome[];
}

const PAUSE_MS = 200;

/**
 * Commits batches one after the other, in two round trips: the changes; then, when it is known which of them apply, their
 * ledger rows and the segment. After a lost connection the segment shows whether the commit arrived.
 */
export class BatchCommitter {
  readonly #parts: BatchCommitterParts;
  readonly #changes: BatchChanges;
  readonly #insertSegment: Statement;
  readonly #insertVoid: Statement;
  readonly #ledgerRow: Statement;
  #head: SegmentHead;
  #inDoubt: InDoubtCommit | null = null;

  constructor(parts: BatchCommitterParts) {
    this.#parts = parts;
    this.#changes = new BatchChanges(parts.connection, parts.tables, parts.held.writer);
    this.#insertSegment = segmentStatement(parts.tables);
    this.#insertVoid = voidSegmentStatement(parts.tables);
    this.#ledgerRow = ledgerRowStatement(parts.tables);
    this.#head = parts.held.head;
  }

  /** The number of the last segment that was committed. */
  get no(): number {
    return this.#head.no;
  }

  /** The number of the last ledger row of this writer that was committed. */
  get last(): number {
    return this.#head.last;
  }

  /** Commits all writes or none. Rejects with `WriterLost` if this process must not write any more. */
  async commit(writes: readonly Write[], failsFast = false): Promise<readonly WriteOutcome[]> {
    for (;;) {
      const outcomes = await this.#tryOnce(writes, failsFast);
      if (outcomes === null) continue;
      this.#changes.committed(writes, outcomes);
      return outcomes;
    }
  }

  /** Returns null if nothing was stored, and another attempt may succeed. */
  async #tryOnce(writes: readonly Write[], failsFast: boolean): Promise<readonly WriteOutcome[] | null> {
    const { connection } = this.#parts;
    const client = await connection.client();
    try {
      return await this.#attempt(client, writes, failsFast);
    } catch (error) {
      const inDoubt = this.#inDoubt;
      this.#inDoubt = null;
      if (connection.isLost(error)) {
        connection.drop(client, error);
        // Before the commit was sent, nothing can have been stored.
        return inDoubt === null ? null : await this.#settle(inDoubt);
      }
      await this.#rollBack(client);
      await this.#checkHead();
      if (error instanceof RunForgotten) return null;
      throw error;
    }
  }

  async #attempt(
    client: pg.Client,
    writes: readonly Write[],
    failsFast: boolean,
  ): Promise<readonly WriteOutcome[]> {
    const { connection, held, digest, now } = this.#parts;
    const applied = await this.#changes.apply(client, writes, failsFast);
    const { drafts, ended, outcomes } = applied;
    const segment = segmentAfter(this.#head, held, drafts, ended, { digest, now: now() });
    const values = segmentValues(segment, held);
    this.#inDoubt = { segment, outcomes };
    const sent = connection.inOneWrite(client, () => [
      ...this.#changes.finish(client, applied),
      connection.send(client, this.#insertSegment, values),
      connection.send(client, COMMIT, []),
    ]);
    await allInOrder(sent);
    this.#inDoubt = null;
    this.#head = segment;
    return outcomes;
  }

  /**
   * Decides whether the commit arrived, and returns the outcomes if it did, otherwise null. The transaction may still be
   * running in the server, or on its way there, so its number is taken: afterwards it has committed or never will.
   */
  async #settle({ segment, outcomes }: InDoubtCommit): Promise<readonly WriteOutcome[] | null> {
    const { connection, tables, held } = this.#parts;
    const { no, epoch, previousHash } = segment;
    const found = await this.#whenAvailable(async () => {
      await connection.query(this.#insertVoid, [held.writer, no, epoch, Buffer.from(previousHash, 'hex')]);
      return await segmentHead(connection, tables, held.writer);
    });
    if (found.no > no || (found.no === no && found.epoch !== epoch)) {
      if (await this.#whenAvailable(() => this.#isStored(segment))) return outcomes;
      throw fenced();
    }
    if (found.no < no) throw restored('batch', this.#head.no, found.no);
    if (found.ended === VOID) {
      this.#head = found;
      return null;
    }
    this.#head = segment;
    return outcomes;
  }

  /** Whether the segment was committed before another process took the writer; false if it has no rows to look for. */
  async #isStored({ period, first, last, hash }: Segment): Promise<boolean> {
    if (last < first) return false;
    const { connection, held } = this.#parts;
    const values = [period, held.writer, last, Buffer.from(hash, 'hex')];
    const { rows } = await connection.query(this.#ledgerRow, values);
    return rows.length > 0;
  }

  /** After a failed batch: throws if the reason is that another process writes, or that the database was restored. */
  async #checkHead(): Promise<void> {
    const { connection, tables, held } = this.#parts;
    const found = await segmentHead(connection, tables, held.writer);
    const { no, hash } = this.#head;
    if (found.no > no) throw fenced();
    if (found.no < no || found.hash !== hash) throw restored('batch', no, found.no);
  }

  /** Waits until the store is closed: until the result is known, no write of the batch may be settled. */
  async #whenAvailable<T>(work: () => Promise<T>): Promise<T> {
    const { unavailable, connection } = this.#parts;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (connection.isClosed)
          throw new StorageUnavailable(
            `the store was closed before it was known whether the write was stored: ${messageOf(error)}`,
          );
        unavailable(error instanceof StorageUnavailable ? error : new StorageUnavailable(messageOf(error)));
        await pause(PAUSE_MS);
      }
    }
  }

  async #rollBack(client: pg.Client): Promise<void> {
    const { connection } = this.#parts;
    await client.query('rollback').catch((error: unknown) => connection.drop(client, error));
  }
}

const COMMIT: Statement = { name: 'commit', text: 'commit' };
