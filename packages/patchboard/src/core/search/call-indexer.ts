import { messageOf } from '../failures.ts';
import type { Clock, Log } from '../ports.ts';
import type { CallIndexWriter, IndexPosition, RunningIndex } from './call-search.ts';
import type { IndexSource } from './index-source.ts';

export interface CallIndexerParts {
  readonly source: IndexSource;
  readonly writer: CallIndexWriter;
  readonly clock: Clock;
  readonly log: Log;
  /** Calls `listener` after commits. The returned function ends the subscription. */
  readonly onCommitted: (listener: () => void) => () => void;
  /** How long ended calls are kept; null: for ever. */
  readonly keepCallsMs: number | null;
}

/** Commits are gathered for this long, because one batch of many calls costs less than many batches. */
const GATHER_MS = 250;
/** While other commits happen, a pause follows each batch that is at least this many times as long. */
const BUSY_PAUSE = 3;
const ACQUIRE_EVERY_MS = 5_000;
const FORGET_EVERY_MS = 3_600_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

type Step = 'behind' | 'up_to_date' | 'leased_elsewhere';

/**
 * Writes the index of calls behind the commits, batch by batch: no write waits for it. The position is stored with the
 * index, so that a restart continues there. If the store is not the one the index was made from, the index is made anew.
 */
export class CallIndexer implements RunningIndex {
  readonly #parts: CallIndexerParts;
  #position: IndexPosition | null = null;
  #running: Promise<void> | null = null;
  #isStopped = false;
  /** Commits since the last step began. */
  #commits = 0;
  /** Whether it waits for the next commit. */
  #isUpToDate = false;
  /** Whether the index may not be at the position that this object knows. */
  #isDoubted = false;
  #failures = 0;
  #forgotAt = -Infinity;
  #wake: () => void = () => {};
  #unsubscribe: () => void = () => {};

  constructor(parts: CallIndexerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#unsubscribe = this.#parts.onCommitted(() => {
      this.#commits += 1;
      if (!this.#isUpToDate) return;
      this.#isUpToDate = false;
      this.#wake();
    });
    this.#running ??= this.#run();
  }

  /** Resolves when the index is written no more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    this.#wake();
    await this.#running;
  }

  /** Ends a pause, because a request waits for the index; not one after a failure, or while another node writes it. */
  hurry(): void {
    if (this.#failures > 0 || this.#position === null) return;
    // A request waits although every commit is in the index: it was replaced by an empty one.
    if (this.#isUpToDate) this.#isDoubted = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    // After the start of the server, which does not wait for the index.
    await this.#pause(GATHER_MS);
    while (!this.#isStopped) await this.#attempt();
    // Another node can take over at once; otherwise the lease expires.
    if (this.#position !== null) await this.#parts.writer.release().catch(() => {});
  }

  async #attempt(): Promise<void> {
    const { clock, log } = this.#parts;
    const startedAt = clock.elapsed();
    this.#commits = 0;
    try {
      const step = await this.#step();
      if (this.#failures > 0) log.info('search.index_recovered');
      this.#failures = 0;
      await this.#pauseAfter(step, clock.elapsed() - startedAt);
    } catch (error) {
      this.#failures += 1;
      this.#position = null;
      if (this.#failures === 1) log.warn('search.index_failed', { error: messageOf(error) });
      await this.#pause(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1)));
    }
  }

  async #step(): Promise<Step> {
    const { source, writer, clock } = this.#parts;
    if (this.#isDoubted) this.#position = null;
    this.#isDoubted = false;
    this.#position ??= await this.#acquireLease();
    if (this.#position === null) return 'leased_elsewhere';
    if (clock.elapsed() - this.#forgotAt >= FORGET_EVERY_MS) await this.#forget();
    const batch = await source.read(this.#position.seq);
    if (batch === null) {
      // The store went back to an earlier state.
      if ((await source.head()) < this.#position.seq) this.#position = await this.#clear();
      return 'up_to_date';
    }
    if (this.#isStopped) return 'behind';
    this.#position = (await writer.apply(batch)) ? batch.to : null;
    return batch.hasMore || this.#position === null ? 'behind' : 'up_to_date';
  }

  async #acquireLease(): Promise<IndexPosition | null> {
    const { source, writer } = this.#parts;
    const position = await writer.acquireLease();
    if (position === null || position.seq === 0) return position;
    return (await source.hashAt(position.seq)) === position.hash ? position : await this.#clear();
  }

  async #clear(): Promise<IndexPosition> {
    this.#parts.log.info('search.index_rebuilt');
    await this.#parts.writer.clear();
    return { seq: 0, hash: '' };
  }

  async #forget(): Promise<void> {
    const { writer, clock, keepCallsMs } = this.#parts;
    this.#forgotAt = clock.elapsed();
    await writer.forget(keepCallsMs === null ? 0 : clock.now() - keepCallsMs);
  }

  async #pauseAfter(step: Step, elapsedMs: number): Promise<void> {
    switch (step) {
      case 'behind':
        if (this.#commits === 0 || this.#parts.source.isNearlyFull?.() === true)
          await this.#parts.clock.turn();
        else await this.#pause(elapsedMs * BUSY_PAUSE);
        return;
      case 'up_to_date':
        await this.#nextCommit();
        await this.#pause(Math.max(GATHER_MS, elapsedMs * BUSY_PAUSE));
        return;
      case 'leased_elsewhere':
        await this.#pause(ACQUIRE_EVERY_MS);
    }
  }

  async #nextCommit(): Promise<void> {
    if (this.#commits > 0 || this.#isStopped) return;
    this.#isUpToDate = true;
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#isUpToDate = false;
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isStopped) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#parts.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = () => {};
  }
}
