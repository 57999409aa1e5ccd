import { createReadStream, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { StoreCopy } from '../../core/ports.ts';
import { copyDatabase, removeCopy } from './copy-database.ts';

/**
 * Makes copies of an open store, one at a time, in a file beside it. A copy that a killed process left is removed when the
 * store is opened again.
 */
export class StoreCopies {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #closing: AbortController = new AbortController();
  #copying: Promise<StoreCopy> | null = null;

  constructor(database: DatabaseSync, databaseFile: string) {
    this.#database = database;
    this.#file = `${databaseFile}-copy`;
    for (const end of ['', '-journal', '-wal']) rmSync(`${this.#file}${end}`, { force: true });
  }

  /** Resolves to null if there is a copy that was not removed yet. */
  async make(signal: AbortSignal): Promise<StoreCopy | null> {
    if (this.#copying !== null) return null;
    this.#copying = this.#make(AbortSignal.any([signal, this.#closing.signal]));
    try {
      return await this.#copying;
    } catch (error) {
      this.#copying = null;
      throw error;
    }
  }

  /** Ends a copy under way, and removes a finished one. The database must not be closed before. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the store is closed'));
    // `make` rejects with the same error.
    await this.#copying?.catch(() => undefined);
    await removeCopy(this.#file);
  }

  async #make(signal: AbortSignal): Promise<StoreCopy> {
    const { bytes, head } = await copyDatabase(this.#database, this.#file, signal);
    return {
      bytes,
      head,
      read: () => createReadStream(this.#file),
      remove: async () => {
        await removeCopy(this.#file);
        this.#copying = null;
      },
    };
  }
}
