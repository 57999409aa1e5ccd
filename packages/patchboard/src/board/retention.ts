import { isCallState, isTerminal } from '@patchboard/wire';
import type { Engine } from '../core/engine.ts';
import { messageOf } from '../core/failures.ts';
import type { Log, Store } from '../core/ports.ts';

export interface RetentionParts {
  readonly engine: Engine;
  readonly store: Store;
  readonly log: Log;
}

/** Upper bound on the number of ended calls between two purges. */
const MAX_BETWEEN = 1000;
/** The latest representable time: no limit on the age of a call. */
const MAX_TIME = 8.64e15;

/** Purges the oldest calls of a store that would keep all, so that about `retain` ended calls remain. */
export class Retention {
  readonly #retain: number;
  readonly #parts: RetentionParts;
  /** Number of ended calls between two purges. */
  readonly #between: number;
  #ended = 0;
  #purging: Promise<void> = Promise.resolve();
  #isPurging = false;
  #stop: () => void = () => {};

  constructor(retain: number, parts: RetentionParts) {
    this.#retain = retain;
    this.#parts = parts;
    this.#between = Math.min(MAX_BETWEEN, Math.ceil(retain / 10));
  }

  begin(): void {
    this.#start();
    this.#stop = this.#parts.engine.onEnded(() => {
      this.#ended += 1;
      if (this.#ended >= this.#between) this.#start();
    });
  }

  /** Resolves when this class no longer uses the store. */
  async end(): Promise<void> {
    this.#stop();
    await this.#purging;
    if (this.#ended > 0) await this.#purge();
  }

  #start(): void {
    if (this.#isPurging) return;
    this.#isPurging = true;
    this.#ended = 0;
    this.#purging = this.#purge().finally(() => {
      this.#isPurging = false;
    });
  }

  async #purge(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      let ended = 0;
      for (const [state, calls] of Object.entries(await store.countByState()))
        if (isCallState(state) && isTerminal(state)) ended += calls;
      if (ended <= this.#retain) return;
      const purged = await store.purgeCalls(MAX_TIME, ended - this.#retain);
      log.info('retention.purged', { calls: purged });
    } catch (error) {
      log.error('retention.failed', { error: messageOf(error) });
    }
  }
}
