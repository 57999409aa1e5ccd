import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isEnvironmental } from './sqlite-errors.ts';

/** Keeps in-memory state consistent with transactions. */
export interface TransactionHooks {
  /** Returns a function that restores the current state. */
  save(): () => void;
  /** Runs the last statements of a transaction. May be called several times, after single writes. */
  beforeCommit(): void;
  /** Called when the transaction is durable, before the writes resolve. */
  durable(): void;
}

/** The result of one write of a committed transaction. */
export type Applied = { readonly value: unknown } | { readonly error: unknown };

/** Runs several writes in one transaction. */
export class Transactions {
  readonly #database: DatabaseSync;
  readonly #hooks: TransactionHooks;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #rollbackTo: StatementSync;
  readonly #release: StatementSync;

  constructor(database: DatabaseSync, hooks: TransactionHooks) {
    this.#database = database;
    this.#hooks = hooks;
    this.#begin = database.prepare('begin immediate');
    this.#commit = database.prepare('commit');
    this.#rollback = database.prepare('rollback');
    this.#savepoint = database.prepare('savepoint one_write');
    this.#rollbackTo = database.prepare('rollback to one_write');
    this.#release = database.prepare('release one_write');
  }

  /** Commits all writes except those that throw. Throws, without a change, if the commit fails. */
  run(writes: readonly (() => unknown)[]): readonly Applied[] {
    try {
      return this.#run(writes, (apply) => ({ value: apply() }));
    } catch (error) {
      // A full or failing disk: single writes would fail too.
      if (isEnvironmental(error)) throw error;
      // One of the writes failed. With savepoints, only that one is undone.
      return this.#run(writes, (apply) => this.#applyInSavepoint(apply));
    }
  }

  #run(writes: readonly (() => unknown)[], applyOne: (apply: () => unknown) => Applied): readonly Applied[] {
    const restore = this.#hooks.save();
    try {
      this.#begin.run();
      const applied = writes.map(applyOne);
      this.#hooks.beforeCommit();
      this.#commit.run();
      return applied;
    } catch (error) {
      // SQLite itself rolls back after some errors.
      if (this.#database.isTransaction) this.#rollback.run();
      restore();
      throw error;
    }
  }

  #applyInSavepoint(apply: () => unknown): Applied {
    const restore = this.#hooks.save();
    this.#savepoint.run();
    try {
      const value = apply();
      // Deferred statements run now, so that an error is attributed to this write.
      this.#hooks.beforeCommit();
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
