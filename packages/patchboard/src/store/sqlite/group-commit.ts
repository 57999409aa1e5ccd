import type { DatabaseSync } from 'node:sqlite';
import { messageOf, StorageFull, StorageUnavailable } from '../../core/failures.ts';
import { isFull } from './store-refused.ts';
import { Transactions, type Applied, type Companion } from './transactions.ts';

/** So that one transaction never holds the event loop for long. */
const MAX_WRITES = 512;
const MAX_BYTES = 4 * 1024 * 1024;

/** Takes what was committed from the file to the disk. */
export interface Disk {
  /** Why nothing may be committed now; null if it may. */
  problem(): string | null;
  /** Away from this thread. `done` is called once, later. */
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
  /** About how much it writes. */
  readonly bytes?: number;
  /** In a transaction of its own, so that a neighbour without room cannot take it down. */
  readonly alone?: boolean;
}

/** Committed, and perhaps not on the disk yet. */
interface Batch {
  readonly writes: readonly Write[];
  readonly applied: readonly Applied[];
}

/**
 * What is asked while the disk is busy becomes the next transaction: one sync pays for all of it, the thread goes on
 * meanwhile, and each promise settles after it. A write must check before it changes: a lost race is an answer, not an
 * exception.
 */
export class GroupCommit {
  readonly #transactions: Transactions;
  readonly #companion: Companion;
  readonly #disk: Disk;
  #queue: Write[] = [];
  #scheduled = false;
  #syncing: Batch | null = null;
  #readers: (() => void)[] = [];
  #refusal: Error | null = null;

  constructor(database: DatabaseSync, disk: Disk, companion: Companion) {
    this.#transactions = new Transactions(database, companion);
    this.#companion = companion;
    this.#disk = disk;
  }

  /** `apply` runs inside the transaction, synchronously; it may run twice, so it must not act on anything else. */
  write<T>(apply: () => T, traits: WriteTraits = {}): Promise<T> {
    if (this.#refusal !== null) return Promise.reject(this.#refusal);
    return new Promise<T>((resolve, reject) => {
      const { bytes = 0, alone = false } = traits;
      this.#queue.push({ apply, bytes, alone, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Who waits for it is shown nothing that a power loss could still take back. Undefined: nothing to wait for. */
  durable(): Promise<void> | undefined {
    if (this.#syncing === null) return undefined;
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Why a write would be refused now; null if it would not. */
  problem(): string | null {
    return this.#refusal?.message ?? this.#disk.problem();
  }

  /** Writes what is queued; refuses what comes later. */
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
      // Closed meanwhile, and written by that.
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
      // Closed meanwhile, and settled by that.
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
    this.#companion.durable();
    for (let index = 0; index < writes.length; index += 1) settle(writes[index], applied[index]);
    this.#letReadersIn();
  }

  /** Nobody can say what of it is on the disk, nor would a second sync: the system may have forgotten it by then. */
  #unsynced({ writes }: Batch, error: unknown): void {
    this.#syncing = null;
    this.#refusal = new Error(
      `the disk did not keep what was written (${messageOf(error)}); nothing more is written until a restart`,
    );
    rejectAll([...writes, ...this.#queue.splice(0)], this.#refusal);
    this.#letReadersIn();
  }

  #letReadersIn(): void {
    for (const goOn of this.#readers.splice(0)) goOn();
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
