import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import type { Connection, Statement } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';
import { fenced, restored, type WriterLost } from './writer-lost.ts';
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
  readonly #epochStatement: Statement;
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
    this.#epochStatement = { name: 'epoch', text: `select epoch from ${writers} where writer = $1` };
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
    const { connection, held, committed } = this.#parts;
    const expected = committed();
    const values = [held.writer, held.epoch];
    const { rows } = await connection.query<{ no: number | null }>(this.#beatStatement, values);
    const [row] = rows;
    const found = row?.no ?? 0;
    if (row !== undefined) return found < expected ? restored(expected, found) : null;
    const epochs = await connection.query<{ epoch: number }>(this.#epochStatement, [held.writer]);
    // The writer as it was before this process took it.
    return (epochs.rows[0]?.epoch ?? 0) < held.epoch ? restored(expected, 0) : fenced();
  }
}
