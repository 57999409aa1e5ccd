import type { Queryable, QueryRows, Statement } from './connection.ts';

interface Member {
  readonly queryable: Queryable;
  /** Statements without a reply. */
  waiting: number;
}

/** Sends each statement to the connection with the fewest statements in progress, so that a slow one does not delay all others. */
export class LeastBusy implements Queryable {
  readonly #members: readonly Member[];

  /** Earlier ones are preferred: a connection is made by its first statement. */
  constructor(queryables: readonly [Queryable, ...Queryable[]]) {
    this.#members = queryables.map((queryable) => ({ queryable, waiting: 0 }));
  }

  async query<Row extends object>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<QueryRows<Row>> {
    const member = this.#members.reduce((best, one) => (one.waiting < best.waiting ? one : best));
    member.waiting += 1;
    try {
      return await member.queryable.query<Row>(statement, values);
    } finally {
      member.waiting -= 1;
    }
  }
}
