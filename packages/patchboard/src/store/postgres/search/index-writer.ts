import type { CallIndexWriter, IndexBatch, IndexPosition } from '../../../core/search/call-search.ts';
import { METRIC_LEVELS } from '../../../core/search/metric-groups.ts';
import { GENESIS } from '../../../core/ledger/ledger.ts';
import type { Connection, Transaction } from '../../../postgres/connection.ts';
import type { PartitionedSchema } from '../partitions.ts';
import {
  callValues,
  metricValues,
  nameValues,
  refusalValues,
  storable,
  type SeenName,
} from './batch-values.ts';
import { IndexPartitions } from './index-partitions.ts';
import { indexStatements, type IndexStatements } from './index-statements.ts';
import { MetricBuckets, type MetricRow } from './metric-rows.ts';
import { NAME_REFRESH_MS, SeenNames } from './seen-names.ts';

export interface IndexWriterParts extends PartitionedSchema {
  /** Only the writer of the index uses it. */
  readonly connection: Connection;
  readonly now: () => number;
  /** Identifies this process among those that write the index. */
  readonly holder: string;
}

/** The lease of a node that has not written for this time passes to the next node that requests it. */
export const LEASE_MS = 10_000;

/** Thrown in a transaction to roll it back: the position is another one, or another node has the lease. */
class PositionChanged extends Error {}

/**
 * Writes the index of calls. The lease is in `index_state`; what protects the index is the position in the same row,
 * which each batch compares and sets: a batch of a node whose lease has passed to another one changes nothing.
 */
export class PostgresIndexWriter implements CallIndexWriter {
  readonly #parts: IndexWriterParts;
  readonly #statements: IndexStatements;
  readonly #partitions: IndexPartitions;
  readonly #names: SeenNames = new SeenNames();
  readonly #buckets: MetricBuckets;
  /** The position after the last batch of this process. */
  #last = 0;

  constructor(parts: IndexWriterParts) {
    this.#parts = parts;
    this.#statements = indexStatements(parts.tables);
    this.#partitions = new IndexPartitions(parts);
    this.#buckets = new MetricBuckets(parts.tables);
  }

  async acquireLease(): Promise<IndexPosition | null> {
    const { connection, holder } = this.#parts;
    const values = [holder, LEASE_MS, GENESIS];
    const { rows } = await connection.query<IndexPosition>(this.#statements.acquireLease, values);
    const position = rows[0] ?? null;
    if (position?.seq !== this.#last) this.#forgetWritten();
    return position;
  }

  async apply(given: IndexBatch): Promise<boolean> {
    const { connection } = this.#parts;
    const batch = storable(given);
    await this.#partitions.ensure(batch);
    const names = this.#names.unwritten(batch);
    const metrics = await this.#buckets.rowsOf(connection, batch);
    let attempts = 0;
    try {
      await connection.transaction(async (transaction) => {
        attempts += 1;
        // The connection was lost before the reply to the commit came.
        if (attempts > 1 && (await this.#isAt(transaction, batch.to))) return;
        await this.#write(transaction, batch, names, metrics);
      });
    } catch (error) {
      this.#forgetWritten();
      if (error instanceof PositionChanged) return false;
      throw error;
    }
    this.#names.wrote(names);
    this.#last = batch.to.seq;
    return true;
  }

  async clear(): Promise<void> {
    const { connection, tables, holder } = this.#parts;
    await connection.transaction(async (transaction) => {
      const text = `update ${tables.index_state} set seq = 0, hash = $2, forgotten = 0 where one = 1 and holder = $1`;
      const { count } = await transaction.query({ name: 'clear_index', text }, [holder, GENESIS]);
      if (count === 1) await this.#partitions.clear(transaction);
    });
    this.#forgetWritten();
    this.#last = 0;
  }

  async forget(before: number): Promise<void> {
    const { connection, tables, now } = this.#parts;
    // Calls are removed oldest first: what ended before the oldest stored call was created is no longer stored.
    const hide = {
      name: 'forget_calls',
      text: `update ${tables.index_state} set forgotten = greatest(forgotten, $1::int8,
        (select created_at from ${tables.calls} order by id limit 1)) where one = 1 returning forgotten`,
    };
    const { rows } = await connection.query<{ forgotten: number }>(hide, [before]);
    const end = rows[0]?.forgotten ?? before;
    await this.#partitions.forget(end, () => this.acquireLease());
    const names = {
      name: 'forget_names',
      text: `delete from ${tables.indexed_names} where seen_at < $1`,
    };
    // Metrics are selected by these names too, and are kept for longer.
    const oldest = Math.min(end, ...METRIC_LEVELS.map(({ keptMs }) => now() - keptMs));
    await connection.query(names, [oldest - NAME_REFRESH_MS]);
    const metrics = {
      name: 'forget_metrics',
      text: `delete from ${tables.call_metrics} where width_ms = $1 and at < $2`,
    };
    for (const { widthMs, keptMs } of METRIC_LEVELS)
      await connection.query(metrics, [widthMs, now() - keptMs]);
  }

  async release(): Promise<void> {
    await this.#parts.connection.query(this.#statements.release, [this.#parts.holder]);
  }

  /** All statements are sent at once. They are rolled back if the position is not the expected one. */
  async #write(
    transaction: Transaction,
    batch: IndexBatch,
    names: readonly SeenName[],
    metrics: readonly MetricRow[],
  ): Promise<void> {
    const { from, to, calls, refusals } = batch;
    const { move, insertCalls, insertRefusals, seeNames, addMetrics } = this.#statements;
    const [moved] = await Promise.all([
      transaction.query(move, [from, to.seq, to.hash, this.#parts.holder, LEASE_MS]),
      calls.length > 0 && transaction.query(insertCalls, callValues(calls)),
      refusals.length > 0 && transaction.query(insertRefusals, refusalValues(refusals)),
      names.length > 0 && transaction.query(seeNames, nameValues(names)),
      metrics.length > 0 && transaction.query(addMetrics, metricValues(metrics)),
    ]);
    if (moved.count !== 1) throw new PositionChanged();
  }

  /** What this process has written may be gone, or not be all: another node has written, or a batch was not committed. */
  #forgetWritten(): void {
    this.#names.forget();
    this.#buckets.forget();
  }

  async #isAt(transaction: Transaction, { seq, hash }: IndexPosition): Promise<boolean> {
    const { rows } = await transaction.query<IndexPosition>(this.#statements.state);
    return rows[0]?.seq === seq && rows[0].hash === hash;
  }
}
