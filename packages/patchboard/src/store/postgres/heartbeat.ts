import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import type { Connection, Statement } from '../../postgres/connection.ts';
import { lossOf } from './beat.ts';
import type { Tables } from './schema.ts';
import type { WriterLost } from './writer-lost.ts';
import type { HeldWriter } from './writer-slot.ts';

const BEAT_EVERY_MS = 500;

export interface HeartbeatParts {
  readonly connection: Connection;
  readonly tables: Tables;
  readonly held: HeldWriter;
  readonly log: Log | undefined;
  /** Returns the number of the last segment that this process committed. */
  readonly committed: () => number;
  /** Called if another process has taken the writer, or the database was restored to an earlier state. */
  readonly lost: (error: WriterLost) => void;
}

/** Shows other processes that the holder of a writer lives. On a connection of its own, so that no batch delays it. */
export class Heartbeat {
  readonly #beatStatement: Statement;
  readonly #parts: HeartbeatParts;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    const { writers, segments } = parts.tables;
    this.#beatStatement = {
      name: 'beat',
      text: `update ${writers} set beat = beat + 1 where writer = $1 and epoch = $2 and state = 'held'
        returning (select max(no) from ${segments} where writer = $1) as no`,
    };
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
    const { log, lost } = this.#parts;
    try {
      const loss = await this.#beatOnce();
      this.#isFailing = false;
      if (loss !== null) return lost(loss);
    } catch (error) {
      // Without the database no process can be taken for dead either.
      if (!this.#isFailing) log?.warn('store.heartbeat_failed', { error: messageOf(error) });
      this.#isFailing = true;
    }
    if (this.#timer !== null) this.#schedule();
  }

  /** Returns why this process must not write any more, or null. */
  async #beatOnce(): Promise<WriterLost | null> {
    const { connection, tables, held, committed } = this.#parts;
    const expected = committed();
    const values = [held.writer, held.epoch];
    const { rows } = await connection.query<{ no: number | null }>(this.#beatStatement, values);
    const found = rows[0] === undefined ? null : (rows[0].no ?? 0);
    return await lossOf(connection, tables, held, expected, found);
  }
}
