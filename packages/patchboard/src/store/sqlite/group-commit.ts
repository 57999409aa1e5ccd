import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { StorageFull } from '../../core/failures.ts';
import { isEnvironmental, isFull } from './store-refused.ts';

/** So that one transaction never holds the event loop for long. */
const MAX_WRITES = 512;
const MAX_BYTES = 4 * 1024 * 1024;

/** Memory that belongs to the transaction. */
export interface Companion {
  /** The answer puts everything back to where it is now. */
  save(): () => void;
  /** The last statements of a transaction; also, more than once in it, after single writes. */
  beforeCommit(): void;
  /** The transaction is durable; no caller knows yet. */
  committed(): void;
}

interface Write {
  readonly apply: () => unknown;
  readonly bytes: number;
  readonly alone: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriteTraits {
  /** About how much it writes. */
  readonly bytes?: number;
  /** In a transaction of its own, so that a neighbour without room cannot take it down. */
  readonly alone?: boolean;
}

/**
 * Writes of one turn of the event loop become one transaction: one sync to disk pays for all of them, and each
 * promise settles after it. A write must check before it changes: a lost race is an answer, not an exception.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #companion: Companion;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #rollbackTo: StatementSync;
  readonly #release: StatementSync;
  #queue: Write[] = [];
  #scheduled = false;
  #closed = false;

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

  /** `apply` runs inside the transaction, synchronously; it may run twice, so it must not act on anything else. */
  write<T>(apply: () => T, traits: WriteTraits = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      const { bytes = 0, alone = false } = traits;
      this.#queue.push({ apply, bytes, alone, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Writes what is queued; refuses what comes later. */
  close(): void {
    this.#closed = true;
    while (this.#queue.length > 0) this.#flush();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#queue.length > 0) this.#flush();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #flush(): void {
    const batch = this.#take();
    try {
      this.#run(batch, (write) => ({ value: write.apply() }));
    } catch (error) {
      // No room, or a failing disk: alone they would fare no better, and each try would cost a sync.
      if (isEnvironmental(error)) rejectAll(batch, error);
      // One of them is faulty. Savepoints find out which, and the others do not suffer.
      else this.#flushApart(batch);
    }
  }

  #flushApart(batch: readonly Write[]): void {
    try {
      this.#run(batch, (write) => this.#applyApart(write));
    } catch (error) {
      rejectAll(batch, error);
    }
  }

  #run(batch: readonly Write[], apply: (write: Write) => Applied): void {
    const restore = this.#companion.save();
    const applied: Applied[] = [];
    try {
      this.#begin.run();
      for (const write of batch) applied.push(apply(write));
      this.#companion.beforeCommit();
      this.#commit.run();
    } catch (error) {
      // SQLite itself rolls back after some errors.
      if (this.#database.isTransaction) this.#rollback.run();
      restore();
      throw error;
    }
    this.#companion.committed();
    for (let index = 0; index < batch.length; index += 1) settle(batch[index], applied[index]);
  }

  #applyApart(write: Write): Applied {
    const restore = this.#companion.save();
    this.#savepoint.run();
    try {
      const value = write.apply();
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

  #take(): Write[] {
    let count = 0;
    let bytes = 0;
    for (const write of this.#queue) {
      if (count > 0 && (write.alone || count >= MAX_WRITES || bytes + write.bytes > MAX_BYTES)) break;
      count += 1;
      bytes += write.bytes;
      if (write.alone) break;
    }
    const batch = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return batch;
  }
}

type Applied = { readonly value: unknown } | { readonly error: unknown };

function settle(write: Write | undefined, applied: Applied | undefined): void {
  if (applied !== undefined && 'error' in applied) write?.reject(applied.error);
  else write?.resolve(applied?.value);
}

function rejectAll(batch: readonly Write[], error: unknown): void {
  const reason = isFull(error) ? new StorageFull() : error;
  for (const write of batch) write.reject(reason);
}
