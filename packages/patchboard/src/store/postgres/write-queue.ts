import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, type StorageUnavailable } from '../../core/failures.ts';
import { isTimeout, isTransient } from '../../postgres/sql-errors.ts';
import { isExhausted, isOfOneWrite, rejection, type Search } from './failed-batch.ts';
import { charactersOf, type Write, type WriteOutcome } from './write.ts';
import { WriterLost } from './writer-lost.ts';

/** Commits all writes or none. */
export interface Committer {
  /** `failsFast`: fails after a short time if another session holds a lock. */
  commit(writes: readonly Write[], failsFast: boolean): Promise<readonly WriteOutcome[]>;
}

export interface WriteQueueParts {
  readonly committer: Committer;
  /** Called after each committed batch. */
  readonly committed: () => void;
  /** Called once, if this process must not write any more. */
  readonly lost: (error: WriterLost) => void;
}

interface Waiting {
  readonly write: Write;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_WRITES = 512;
const MAX_CHARACTERS = 4_194_304;
/** Attempts of a single write that meets a deadlock. */
const ATTEMPTS = 5;
/** Parts of a batch that may wait for a lock while one locked row is searched: halving a full batch takes one per level. */
const WAITS = 10;
const PAUSE_MS = 50;
/** How long a failed batch counts as a problem. */
const PROBLEM_MS = 5000;

/**
 * Group commit: writes that arrive during a commit share the next transaction, in their order. A write that makes its batch
 * fail is isolated by halving the batch.
 */
export class WriteQueue {
  readonly #parts: WriteQueueParts;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | null = null;
  #closed: StorageUnavailable | null = null;
  #problem: { readonly text: string; readonly at: number } | null = null;

  constructor(parts: WriteQueueParts) {
    this.#parts = parts;
  }

  /**
   * Why the last batch failed; null if it succeeded, or failed some time ago: a server that is not ready gets no writes that
   * could show that they succeed again.
   */
  get problem(): string | null {
    if (this.#problem === null || performance.now() - this.#problem.at > PROBLEM_MS) return null;
    return this.#problem.text;
  }

  /** The number of writes that no batch has taken yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  push(write: Write): Promise<WriteOutcome> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Rejects the writes that no batch has taken yet, because the database cannot be reached. */
  rejectWaiting(error: StorageUnavailable): void {
    this.#failedWith(error);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** Rejects writes from now on with `error`. */
  stop(error: StorageUnavailable): void {
    this.#closed ??= error;
  }

  /** Resolves when no write is waiting or being committed. */
  async idle(): Promise<void> {
    while (this.#draining !== null) await this.#draining;
  }

  async #drain(): Promise<void> {
    // The writes of one turn of the event loop share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#commit(this.#take());
    this.#draining = null;
  }

  async #commit(batch: readonly Waiting[], search: Search | null = null, attempt = 1): Promise<void> {
    const writes = batch.map(({ write }) => write);
    try {
      const outcomes = await this.#parts.committer.commit(writes, search !== null);
      this.#problem = null;
      this.#parts.committed();
      for (const [index, { resolve }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined) resolve(outcome);
      }
      this.#resolveDuplicates(batch, outcomes);
    } catch (error) {
      await this.#failed(batch, search, attempt, error);
    }
  }

  async #failed(
    batch: readonly Waiting[],
    search: Search | null,
    attempt: number,
    error: unknown,
  ): Promise<void> {
    if (batch.length > 1 && isOfOneWrite(error) && !isExhausted(search, error)) {
      const half = batch.length >> 1;
      const going = search ?? { waits: WAITS };
      await this.#commit(batch.slice(0, half), going);
      await this.#commit(batch.slice(half), going);
      return;
    }
    if (isTransient(error) && attempt < ATTEMPTS) {
      await pause(PAUSE_MS * attempt);
      return await this.#commit(batch, search, attempt + 1);
    }
    if (isTimeout(error) || !isOfOneWrite(error)) this.#failedWith(error);
    if (error instanceof WriterLost && this.#closed === null) {
      this.#closed = error;
      this.rejectWaiting(error);
      this.#parts.lost(error);
    }
    const given = rejection(error);
    for (const { reject } of batch) reject(given);
  }

  #failedWith(error: unknown): void {
    this.#problem = { text: messageOf(error), at: performance.now() };
  }

  /**
   * Takes the next batch. It ends before a second change of the same call, and before a second call with the same
   * idempotency key, because one statement cannot do both.
   */
  #take(): Waiting[] {
    const waiting = this.#waiting;
    if (waiting[0]?.write.kind === 'other') return waiting.splice(0, 1);
    const taken = new Set<string>();
    let count = 0;
    let characters = 0;
    for (const { write } of waiting) {
      if (write.kind === 'other' || count === MAX_WRITES) break;
      characters += charactersOf(write);
      if (count > 0 && characters > MAX_CHARACTERS) break;
      const key = uniqueKey(write);
      if (key !== null && taken.has(key)) break;
      if (key !== null) taken.add(key);
      count += 1;
    }
    return waiting.splice(0, count);
  }

  /** A waiting call whose idempotency key was just used is a duplicate: that needs no look at the database. */
  #resolveDuplicates(batch: readonly Waiting[], outcomes: readonly WriteOutcome[]): void {
    const used = new Map<string, { callId: string; bodyHash: string; expiresAt: number }>();
    for (const [index, { write }] of batch.entries()) {
      if (write.kind !== 'insert' || write.record.idempotency === null) continue;
      if (outcomes[index]?.kind !== 'inserted') continue;
      const { call, idempotency } = write.record;
      used.set(idempotency.scope, { ...idempotency, callId: call.id });
    }
    if (used.size === 0) return;
    this.#waiting = this.#waiting.filter(({ write, resolve }) => {
      if (write.kind !== 'insert' || write.record.idempotency === null) return true;
      const key = used.get(write.record.idempotency.scope);
      if (key === undefined || key.expiresAt <= write.record.call.createdAt) return true;
      resolve({ kind: 'duplicate', callId: key.callId, bodyHash: key.bodyHash });
      return false;
    });
  }
}

/** Two writes with the same key need two batches. */
function uniqueKey(write: Write): string | null {
  if (write.kind === 'replace') return `call\n${write.call.id}`;
  if (write.kind !== 'insert') return null;
  const { idempotency } = write.record;
  return idempotency === null ? null : `key\n${idempotency.scope}`;
}
