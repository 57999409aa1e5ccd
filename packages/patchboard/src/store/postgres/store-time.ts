import type { Queryable } from '../../postgres/connection.ts';

/**
 * The time of the database, which all nodes share: read when the store is opened and with each heartbeat, and continued by
 * monotonic time. The clock of the machine may be wrong.
 */
export class StoreTime {
  /** The time of the database minus monotonic time. */
  #offset: number;

  private constructor(databaseNow: number) {
    this.#offset = databaseNow - performance.now();
  }

  static async read(queryable: Queryable): Promise<StoreTime> {
    const text = 'select extract(epoch from clock_timestamp())::float8 * 1000 as now';
    const { rows } = await queryable.query<{ now: number }>({ name: 'database_time', text });
    return new StoreTime(rows[0]?.now ?? 0);
  }

  /** Epoch milliseconds. */
  now(): number {
    return Math.round(performance.now() + this.#offset);
  }

  measured(databaseNow: number): void {
    this.#offset = databaseNow - performance.now();
  }
}
