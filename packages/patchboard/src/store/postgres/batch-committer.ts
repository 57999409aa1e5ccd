import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { StorageUnavailable } from '../../core/failures.ts';
import type { Digest } from '../../core/ports.ts';
import type { Connection } from '../../postgres/connection.ts';
import { isConnectionLost } from '../../postgres/sql-errors.ts';
import { allInOrder } from './all-in-order.ts';
import { BatchChanges } from './batch-changes.ts';
import type { Tables } from './schema.ts';
import { segmentAfter, segmentStatement, segmentValues, type Segment } from './segment.ts';
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

/** A segment whose commit was sent. `outcomes` hold if it arrived. */
interface Doubt {
  readonly segment: Segment;
  readonly outcomes: readonly WriteOutcome[];
}

const PAUSE_MS = 200;

/**
 * Commits batches one after the other, in two round trips: the changes; then, when it is known which of them apply, their
 * ledger rows and the segment. The segment tells after a lost connection whether the commit arrived.
 */
export class BatchCommitter {
  readonly #parts: BatchCommitterParts;
  readonly #changes: BatchChanges;
  readonly #insertSegment: ReturnType<typeof segmentStatement>;
  #head: SegmentHead;

  constructor(parts: BatchCommitterParts) {
    this.#parts = parts;
    this.#changes = new BatchChanges(parts.connection, parts.tables, parts.held.writer);
    this.#insertSegment = segmentStatement(parts.tables);
    this.#head = parts.held.head;
  }

  /** The number of the last ledger row of this writer that was committed. */
  get last(): number {
    return this.#head.last;
  }

  /** Commits all writes or none. Rejects with `WriterLost` if this process must not write any more. */
  async commit(writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    const doubts: Doubt[] = [];
    for (;;) {
      const client = await this.#client(doubts.length > 0);
      try {
        return await this.#attempt(client, writes, doubts);
      } catch (error) {
        const isLost = isConnectionLost(error);
        if (isLost) this.#parts.connection.drop(client, error);
        else await this.#rollBack(client);
        // Before the commit was sent, nothing can have been stored.
        const outcomes = doubts.length === 0 ? null : await this.#settle(doubts);
        if (outcomes !== null) return outcomes;
        if (!isLost) throw error;
      }
    }
  }

  async #attempt(
    client: pg.Client,
    writes: readonly Write[],
    doubts: Doubt[],
  ): Promise<readonly WriteOutcome[]> {
    const { connection, held, digest, now } = this.#parts;
    const applied = await this.#changes.apply(client, writes);
    const { drafts, ended, outcomes } = applied;
    const segment = segmentAfter(this.#head, held, drafts, ended, { digest, now: now() });
    doubts.push({ segment, outcomes });
    await allInOrder([
      ...this.#changes.finish(client, applied),
      connection.send(client, this.#insertSegment, segmentValues(segment, held)),
      connection.send(client, COMMIT, []),
    ]);
    this.#head = segment;
    return outcomes;
  }

  /** Returns the outcomes of the doubt whose commit arrived; null if none did. */
  async #settle(doubts: readonly Doubt[]): Promise<readonly WriteOutcome[] | null> {
    const found = await this.#storedHead();
    const arrived = doubts.find(
      ({ segment }) =>
        segment.no === found.no && segment.epoch === found.epoch && segment.hash === found.hash,
    );
    if (arrived !== undefined) {
      this.#head = arrived.segment;
      return arrived.outcomes;
    }
    const { no, hash } = this.#head;
    if (found.no > no) throw fenced();
    if (found.no < no || found.hash !== hash) throw restored(no, found.no);
    return null;
  }

  /** Waits as long as the database cannot be reached: without the answer no write of the batch may be settled. */
  async #storedHead(): Promise<SegmentHead> {
    const { connection, tables, held } = this.#parts;
    return await this.#whenAvailable(() => segmentHead(connection, tables, held.writer));
  }

  async #client(isInDoubt: boolean): Promise<pg.Client> {
    const { connection } = this.#parts;
    return isInDoubt ? await this.#whenAvailable(() => connection.client()) : await connection.client();
  }

  async #whenAvailable<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || this.#parts.connection.isClosed) throw error;
        this.#parts.unavailable(error);
        await pause(PAUSE_MS);
      }
    }
  }

  async #rollBack(client: pg.Client): Promise<void> {
    const { connection } = this.#parts;
    await client.query('rollback').catch((error: unknown) => connection.drop(client, error));
  }
}

const COMMIT = { name: 'commit', text: 'commit' };
