import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import type { Connection } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';
import type { HeldWriter } from './writer-slot.ts';

const BEAT_EVERY_MS = 500;

export interface HeartbeatParts {
  readonly connection: Connection;
  readonly tables: Tables;
  readonly held: HeldWriter;
  readonly log: Log | undefined;
  /** Called if another process has taken the writer. */
  readonly fenced: () => void;
}

/** Shows other processes that the holder of a writer lives. On a connection of its own, so that no batch delays it. */
export class Heartbeat {
  readonly #text: string;
  readonly #parts: HeartbeatParts;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#text = `update ${parts.tables.writers} set beat = beat + 1 where writer = $1 and epoch = $2 and state = 'held'`;
    this.#schedule();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#beating;
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat();
    }, BEAT_EVERY_MS);
    this.#timer.unref();
  }

  async #beat(): Promise<void> {
    const { connection, held, log, fenced } = this.#parts;
    try {
      const values = [held.writer, held.epoch];
      const { count } = await connection.query({ name: 'beat', text: this.#text }, values);
      if (count === 0) return fenced();
    } catch (error) {
      // Without the database no process can be taken for dead either.
      log?.warn('store.heartbeat_failed', { error: messageOf(error) });
    }
    if (this.#timer !== null) this.#schedule();
  }
}
