import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isEnvironmental } from './store-refused.ts';

/** Memory that belongs to the transaction. */
export interface Companion {
  /** The answer puts everything back to where it is now. */
  save(): () => void;
  /** The last statements of a transaction; also, more than once in it, after single writes. */
  beforeCommit(): void;
  /** The transaction is durable; no caller knows yet. */
  durable(): void;
}

/** What came of one write of a transaction that was committed. */
export type Applied = { readonly value: unknown } | { readonly error: unknown };

/** Several writes in one transaction. */
export class Transactions {
  readonly #database: DatabaseSync;
  readonly #companion: Companion;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #rollbackTo: StatementSync;
  readonly #release: StatementSync;

  constructor(database: DatabaseSync, companion: Companion) {
    this.#database = database;
    this.#companion = companion;
    this.#begin = database.prepare('begin immediate');
    this.#commit = database.prepare('commit');
    this.#rollback = database.prepare('rollback');
    this.#savepoint = database.prepare('savepoint one_write');
    this.#rollbackTo = database.prepare('rollback to one_write');
    this.#release = database.prepare('release one_write');
  }

  /** Commits all of them, except those that are faulty. Throws if nothing could be committed; then nothing was changed. */
  run(writes: readonly (() => unknown)[]): readonly Applied[] {
    try {
      return this.#run(writes, (apply) => ({ value: apply() }));
    } catch (error) {
      // No room, or a failing disk: alone they would fare no better.
      if (isEnvironmental(error)) throw error;
      // One of them is faulty. Savepoints find out which, and the others do not suffer.
      return this.#run(writes, (apply) => this.#applyApart(apply));
    }
  }

  #run(writes: readonly (() => unknown)[], applyOne: (apply: () => unknown) => Applied): readonly Applied[] {
    const restore = this.#companion.save();
    try {
      this.#begin.run();
      const applied = writes.map(applyOne);
      this.#companion.beforeCommit();
      this.#commit.run();
      return applied;
    } catch (error) {
      // SQLite itself rolls back after some errors.
      if (this.#database.isTransaction) this.#rollback.run();
      restore();
      throw error;
    }
  }

  #applyApart(apply: () => unknown): Applied {
    const restore = this.#companion.save();
    this.#savepoint.run();
    try {
      const value = apply();
      // What is held back until the end as well, while it can still be told whose fault it is.
      this.#companion.beforeCommit();
      return { value };
    } catch (error) {
      if (isEnvironmental(error) || !this.#database.isTransaction) throw error;
      this.#rollbackTo.run();
      restore();
      return { error };
    } finally {
      if (this.#database.isTransaction) this.#release.run();
    }
  }
}
