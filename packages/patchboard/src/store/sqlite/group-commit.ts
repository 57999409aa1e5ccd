import type { DatabaseSync } from 'node:sqlite';
import { messageOf, StorageFull, StorageUnavailable } from '../../core/failures.ts';
import { isFull } from './sqlite-errors.ts';
import { Transactions, type Applied, type TransactionHooks } from './transactions.ts';

/** Limits of one transaction, to bound the time for which it blocks the event loop. */
const MAX_WRITES = 512;
const MAX_BYTES = 4 * 1024 * 1024;

/** Makes commits durable. */
export interface Disk {
  /** Why commits are refused now; null if they are allowed. */
  problem(): string | null;
  /** Syncs in another thread. Calls `done` once, asynchronously. */
  sync(done: (error: Error | null) => void): void;
  syncNow(): void;
}

interface Write {
  readonly apply: () => unknown;
  readonly bytes: number;
  readonly alone: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriteTraits {
  /** Approximate size of the write. */
  readonly bytes?: number;
  /** Whether the write needs its own transaction, so that it does not fail together with others when the disk is full. */
  readonly alone?: boolean;
}

/** Committed writes that may not be on the disk yet. */
interface Batch {
  readonly writes: readonly Write[];
  readonly applied: readonly Applied[];
}

/**
 * Group commit: writes that arrive during an fsync share the next transaction and its fsync, which runs in another thread.
 * Each promise settles after the fsync. A write must check before it changes anything: a lost race is a return value, not
 * an exception.
 */
export class GroupCommit {
  readonly #transactions: Transactions;
  readonly #hooks: TransactionHooks;
  readonly #disk: Disk;
  #queue: Write[] = [];
  #scheduled = false;
  #syncing: Batch | null = null;
  #readers: (() => void)[] = [];
  #refusal: Error | null = null;

  constructor(database: DatabaseSync, disk: Disk, hooks: TransactionHooks) {
    this.#transactions = new Transactions(database, hooks);
    this.#hooks = hooks;
    this.#disk = disk;
  }

  /** The number of writes that no transaction has taken yet. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** `apply` runs synchronously inside the transaction. It may run twice, so it must have no other effects. */
  write<T>(apply: () => T, traits: WriteTraits = {}): Promise<T> {
    if (this.#refusal !== null) return Promise.reject(this.#refusal);
    return new Promise<T>((resolve, reject) => {
      const { bytes = 0, alone = false } = traits;
      this.#queue.push({ apply, bytes, alone, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Resolves when all commits so far are durable; undefined if they are already. Readers wait for it, so that they never return data that a power loss could revert. */
  durable(): Promise<void> | undefined {
    if (this.#syncing === null) return undefined;
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Returns why a write would be refused now; null if it would not. */
  problem(): string | null {
    return this.#refusal?.message ?? this.#disk.problem();
  }

  /** Writes the queued writes and refuses later ones. */
  close(): void {
    this.#refusal ??= new Error('the store is closed');
    this.#syncNow();
    while (this.#queue.length > 0) {
      this.#commitNext();
      this.#syncNow();
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#syncing !== null || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      // `close` has written the queue meanwhile.
      if (this.#queue.length === 0) return;
      this.#commitNext();
      if (this.#syncing === null) this.#schedule();
      else this.#sync(this.#syncing);
    });
  }

  #commitNext(): void {
    const writes = this.#take();
    const problem = this.#disk.problem();
    if (problem !== null) {
      rejectAll(writes, new StorageUnavailable(problem));
      return;
    }
    try {
      this.#syncing = { writes, applied: this.#transactions.run(writes.map(({ apply }) => apply)) };
    } catch (error) {
      rejectAll(writes, isFull(error) ? new StorageFull() : error);
    }
  }

  #sync(batch: Batch): void {
    this.#disk.sync((error) => {
      // `close` has settled the batch meanwhile.
      if (this.#syncing !== batch) return;
      if (error === null) this.#synced(batch);
      else this.#unsynced(batch, error);
      this.#schedule();
    });
  }

  #syncNow(): void {
    if (this.#syncing === null) return;
    try {
      this.#disk.syncNow();
      this.#synced(this.#syncing);
    } catch (error) {
      this.#unsynced(this.#syncing, error);
    }
  }

  #synced({ writes, applied }: Batch): void {
    this.#syncing = null;
    this.#hooks.durable();
    for (let index = 0; index < writes.length; index += 1) settle(writes[index], applied[index]);
    this.#releaseReaders();
  }

  /** After a failed fsync it is unknown what is on the disk. A second fsync may succeed without writing the lost pages, so all writes are refused until a restart. */
  #unsynced({ writes }: Batch, error: unknown): void {
    this.#syncing = null;
    this.#refusal = new Error(
      `the disk did not keep what was written (${messageOf(error)}); nothing more is written until a restart`,
    );
    rejectAll([...writes, ...this.#queue.splice(0)], this.#refusal);
    this.#releaseReaders();
  }

  #releaseReaders(): void {
    for (const resolve of this.#readers.splice(0)) resolve();
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
    return this.#queue.splice(0, count);
  }
}

function settle(write: Write | undefined, applied: Applied | undefined): void {
  if (applied !== undefined && 'error' in applied) write?.reject(applied.error);
  else write?.resolve(applied?.value);
}

function rejectAll(writes: readonly Write[], error: unknown): void {
  for (const write of writes) write.reject(error);
}
