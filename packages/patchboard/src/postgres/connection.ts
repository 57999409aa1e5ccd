import type pg from 'pg';
import { messageOf, StorageUnavailable } from '../core/failures.ts';
import { allInOrder } from './all-in-order.ts';
import { ReconnectingClient, REPLY_MS, streamOf, type ClientParts } from './reconnecting-client.ts';
import { LONG_TEXT } from './session.ts';
import { isTimeout } from './sql-errors.ts';

/** A statement with fixed text. Prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Rows by column name; `bigint` columns are numbers, `bytea` columns are buffers. */
export interface QueryRows<Row> {
  readonly rows: readonly Row[];
  /** The number of rows that the statement returned or changed. */
  readonly count: number;
}

export interface Queryable {
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<QueryRows<Row>>;
}

export interface Transaction extends Queryable {
  /** Runs statements without parameters, separated by semicolons. */
  run(text: string): Promise<void>;
}

/** A transaction on a connection that may have short time limits. */
export interface LimitedTransaction extends Transaction {
  /** Lifts the limits for the statements that follow: they may change many rows. `ms`: more than the usual limit of a statement. */
  allowLong(ms?: number): Promise<void>;
  /**
   * Sends the last statement together with the commit. A process that is paused cannot stop between the two and keep the
   * locks of the statement.
   */
  commitWith(statement: Statement, values: readonly unknown[]): Promise<void>;
}

export interface ConnectionParts extends ClientParts {
  /** False: statements are not prepared, for poolers that give each transaction another connection. */
  readonly prepare: boolean;
}

/** A statement that ends its connection each time is not sent more often. */
const ATTEMPTS = 5;
/** The server ends a statement before this process gives the connection up. */
const REPLY_MARGIN_MS = 5000;

/** Statements and transactions on one connection that is made again after it was lost. */
export class Connection extends ReconnectingClient implements Queryable {
  readonly #isPrepared: boolean;
  /** Resolves when the transactions that were begun so far have ended. Other statements must not become part of them. */
  #transactions: Promise<void> | null = null;

  constructor(parts: ConnectionParts) {
    super(parts);
    this.#isPrepared = parts.prepare;
  }

  /**
   * Sends a read, or a write that may be repeated. Repeats it after a lost connection. Rejects with `StorageUnavailable` if
   * there is no connection for some time.
   */
  async query<Row extends object>(
    statement: Statement,
    values: readonly unknown[] = [],
  ): Promise<QueryRows<Row>> {
    for (let attempt = 1; ; attempt += 1) {
      while (this.#transactions !== null) await this.#transactions;
      const client = await this.client();
      try {
        return await this.send<Row>(client, statement, values);
      } catch (error) {
        if (isTimeout(error)) throw timedOut(error);
        if (!this.isLost(error)) throw error;
        this.drop(client, error);
        if (attempt === ATTEMPTS) throw lostAgain(error);
      }
    }
  }

  /**
   * Runs `work` in a transaction, one at a time. After a lost connection it is repeated, also if it may have committed.
   */
  async transaction<T>(work: (transaction: LimitedTransaction) => Promise<T>): Promise<T> {
    const running = (this.#transactions ?? Promise.resolve()).then(() => this.#run(work));
    const ended: Promise<void> = running.then(
      () => this.#ended(ended),
      () => this.#ended(ended),
    );
    this.#transactions = ended;
    return await running;
  }

  #ended(transaction: Promise<void>): void {
    if (this.#transactions === transaction) this.#transactions = null;
  }

  async #run<T>(work: (transaction: LimitedTransaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.client();
      let replyMs: number | undefined;
      let isCommitted = false;
      const transaction: LimitedTransaction = {
        query: (statement, values = []) => this.send(client, statement, values, replyMs),
        run: async (text) => void (await client.query({ text, ...replyLimit(replyMs) })),
        allowLong: async (ms) => {
          await client.query(ms === undefined ? LONG_TEXT : `set local statement_timeout = ${ms}`);
          replyMs = ms === undefined ? REPLY_MS : ms + REPLY_MARGIN_MS;
        },
        commitWith: async (statement, values) => {
          isCommitted = true;
          const sent = this.inOneWrite(client, () => [
            this.send(client, statement, values, replyMs),
            commit(client, replyMs),
          ]);
          await allInOrder(sent);
        },
      };
      try {
        await client.query(this.beginText);
        const result = await work(transaction);
        if (!isCommitted) await commit(client, replyMs);
        return result;
      } catch (error) {
        const isOutdated = attempt === 1 && this.isOutdated(error);
        if (!isOutdated && !this.isLost(error)) {
          await client.query('rollback').catch((failed: unknown) => this.drop(client, failed));
          throw error;
        }
        this.drop(client, error);
        if (attempt === ATTEMPTS) throw lostAgain(error);
      }
    }
  }

  /** Sends a statement once. The rows are in the order of the result. `replyMs`: other than that of the connection. */
  async send<Row extends object>(
    client: pg.Client,
    { name, text }: Statement,
    values: readonly unknown[],
    replyMs?: number,
  ): Promise<QueryRows<Row>> {
    const prepared = this.#isPrepared ? { name } : {};
    const given = { text, values: [...values], ...prepared, ...replyLimit(replyMs) };
    const { rows, rowCount } = await client.query<Row>(given);
    return { rows, count: rowCount ?? 0 };
  }

  /** Runs `work`, and sends the statements that it sends at once in one write: each write costs both sides a system call. */
  inOneWrite<T>(client: pg.Client, work: () => T): T {
    const stream = streamOf(client);
    stream.cork();
    try {
      return work();
    } finally {
      stream.uncork();
    }
  }
}

/** The driver has the option for single queries too, but its types do not. */
function replyLimit(replyMs: number | undefined): object {
  return replyMs === undefined ? {} : { query_timeout: replyMs };
}

async function commit(client: pg.Client, replyMs: number | undefined): Promise<void> {
  await client.query({ text: 'commit', ...replyLimit(replyMs) });
}

/** Converts the error of a statement that waited for a lock, or took too long. */
export function timedOut(error: unknown): StorageUnavailable {
  return new StorageUnavailable(
    `PostgreSQL did not finish a statement in time (${messageOf(error)}): another session may hold a lock`,
  );
}

function lostAgain(error: unknown): StorageUnavailable {
  return new StorageUnavailable(
    `the connection to PostgreSQL was lost ${ATTEMPTS} times: ${messageOf(error)}`,
  );
}
