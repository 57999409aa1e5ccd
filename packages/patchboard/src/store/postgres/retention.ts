import { tryLockPurge } from '../../postgres/advisory-locks.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Statement, Transaction } from '../../postgres/connection.ts';
import { isPrivilegeMissing, isTimeout, isTransient } from '../../postgres/sql-errors.ts';
import { dropMonth, findOldMonth } from './month-drop.ts';
import type { Month, PartitionParts } from './partitions.ts';
import type { Sequencer } from './sequencer.ts';
import { subtractFromTotals, type EndedCount } from './totals.ts';

export interface RetentionParts extends PartitionParts {
  readonly sequencer: Pick<Sequencer, 'sequence'>;
  readonly now: () => number;
}

/** Rows that one statement scans. */
const WINDOW = 4000;
/** Calls deleted in one transaction. */
const AT_ONCE = 500;
/** A call that was created later than this after a time did not end before it, even if the wall clock stepped back. */
const CLOCK_STEP_MS = 3_600_000;

/** Deletes old calls. Only one process at a time does so. */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #lastEnds: Map<Month, number> = new Map();
  readonly #endedBefore: Statement;
  readonly #delete: Statement;
  readonly #deleteKeys: Statement;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    const { calls, ended_calls: ended, idempotency } = parts.tables;
    this.#endedBefore = {
      name: 'ended_before',
      text: `with w as materialized (
          select id, ended_at from ${ended} where id > $1 and id < $2 order by id limit ${WINDOW})
        (select id, true as matches from w where ended_at < $3 order by id limit $4)
        union all
        (select id, false from w where (select count(*) from w) = ${WINDOW} order by id desc limit 1)`,
    };
    this.#delete = {
      name: 'delete_ended',
      text: `with e as (delete from ${ended} where id = any($1::text[]) returning id, state),
        c as (delete from ${calls} where id = any($1::text[]) returning id, tenant),
        k as (delete from ${idempotency} where call_id = any($1::text[]))
        select c.tenant, e.state, count(*) as calls from e join c on c.id = e.id group by c.tenant, e.state`,
    };
    // Old calls are deleted first, so keys without a call have the lowest ids.
    this.#deleteKeys = {
      name: 'delete_keys',
      text: `delete from ${idempotency} where scope in (
        select k.scope from (select scope, call_id, expires_at from ${idempotency} order by call_id limit ${WINDOW}) k
        left join lateral (select 1 as found from ${calls} where id = k.call_id limit 1) c on true
        where k.expires_at <= $1 and c.found is null)`,
    };
  }

  /**
   * Deletes at most `limit` calls that ended before `before`, oldest first; or all calls of a month at once, by dropping its
   * partitions. Returns their number.
   */
  async purgeCalls(before: number, limit: number): Promise<number> {
    // So that the totals have the calls that are subtracted.
    await this.#parts.sequencer.sequence();
    const end = Math.min(before, Number.MAX_SAFE_INTEGER);
    const dropped = await this.#dropMonths(end);
    if (dropped > 0) return dropped;
    const ids = await this.#find(end, limit);
    let purged = 0;
    for (let start = 0; start < ids.length; start += AT_ONCE)
      purged += await this.#purge(ids.slice(start, start + AT_ONCE));
    await this.#alone((transaction) => transaction.query(this.#deleteKeys, [this.#parts.now()]));
    return purged;
  }

  /** Drops months up to the first one with calls. None if the time is not past: then `limit` alone decides. */
  async #dropMonths(before: number): Promise<number> {
    if (before > this.#parts.now()) return 0;
    for (;;) {
      const dropped = await this.#dropMonth(before);
      if (dropped !== 0) return dropped ?? 0;
    }
  }

  /** Returns null if there is no month to drop, the tables are busy, or the role does not own them. */
  async #dropMonth(before: number): Promise<number | null> {
    const { tables } = this.#parts;
    try {
      return await this.#alone(async (transaction) => {
        const old = await findOldMonth(transaction, this.#parts, before, this.#lastEnds);
        if (old === null || !(await dropMonth(transaction, this.#parts, old))) return null;
        await subtractFromTotals(transaction, tables, old.ended);
        return old.ended.reduce((sum, { calls }) => sum + calls, 0);
      });
    } catch (error) {
      if (isTransient(error) || isTimeout(error) || isPrivilegeMissing(error)) return null;
      throw error;
    }
  }

  async #find(before: number, limit: number): Promise<readonly string[]> {
    const { connection, firstIdAt } = this.#parts;
    const last = firstIdAt(before + CLOCK_STEP_MS);
    const found: string[] = [];
    for (let after = ''; found.length < limit;) {
      const values = [after, last, before, limit - found.length];
      const { rows } = await connection.transaction((transaction) =>
        transaction.query<{ id: string; matches: boolean }>(this.#endedBefore, values),
      );
      for (const { id, matches } of rows) if (matches) found.push(id);
      const end = rows.find(({ matches }) => !matches);
      if (end === undefined) break;
      after = end.id;
    }
    return found;
  }

  async #purge(ids: readonly string[]): Promise<number> {
    const purged = await this.#alone(async (transaction) => {
      const { rows } = await transaction.query<EndedCount>(this.#delete, [textArray(ids)]);
      await subtractFromTotals(transaction, this.#parts.tables, rows);
      return rows.reduce((sum, { calls }) => sum + calls, 0);
    });
    return purged ?? 0;
  }

  /** Returns null, and does nothing, while another process deletes calls. */
  async #alone<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | null> {
    const { connection, schema } = this.#parts;
    return await connection.transaction(async (transaction) =>
      (await tryLockPurge(transaction, schema)) ? await work(transaction) : null,
    );
  }
}
