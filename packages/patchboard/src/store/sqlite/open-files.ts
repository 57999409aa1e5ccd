import { fstatSync, statSync } from 'node:fs';
import type { Log } from '../../core/ports.ts';

/** How long the result of a check is reused. A check takes two system calls, and a busy store commits a thousand times a second. */
const CHECK_EVERY_MS = 100;

/** How often the files are checked while nothing is written. */
const WATCH_EVERY_MS = 1000;

const FOLDER_LOST =
  'the data folder was moved, deleted or replaced while the server runs: move it back, or restart the server to use what is there now';
const LOG_LOST =
  'the log of the store (patchboard.db-wal) was moved, deleted or replaced while the server runs: move it back, or restart the server with SIGTERM, which writes the content of the log into the database';

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Checks that the paths of the database and its log still lead to the open files. Writes to an open file that was deleted
 * or replaced succeed, but are lost when the process ends.
 */
export class OpenFiles {
  readonly #file: string;
  readonly #database: Identity;
  readonly #wal: Identity;
  readonly #log: Log | undefined;
  readonly #timer: NodeJS.Timeout;
  #checkedAt = -Infinity;
  #problem: string | null = null;

  constructor(databaseFile: string, walDescriptor: number, log: Log | undefined) {
    this.#file = databaseFile;
    // Not opened again: closing a second descriptor of the database would drop the locks of the first (POSIX).
    this.#database = statSync(databaseFile, { bigint: true });
    this.#wal = fstatSync(walDescriptor, { bigint: true });
    this.#log = log;
    this.#timer = setInterval(() => this.problem(), WATCH_EVERY_MS).unref();
  }

  /** Returns the problem if the paths lead to other files than the open ones, otherwise null. At most 100 ms old. */
  problem(): string | null {
    return performance.now() - this.#checkedAt < CHECK_EVERY_MS ? this.#problem : this.problemNow();
  }

  /** Like `problem`, but always checks the files. */
  problemNow(): string | null {
    this.#checkedAt = performance.now();
    const before = this.#problem;
    this.#problem = this.#check();
    if (before === null && this.#problem !== null)
      this.#log?.error('store.lost', { file: this.#file, problem: this.#problem });
    if (before !== null && this.#problem === null) this.#log?.info('store.found', { file: this.#file });
    return this.#problem;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): string | null {
    if (!leadsTo(this.#file, this.#database)) return FOLDER_LOST;
    return leadsTo(`${this.#file}-wal`, this.#wal) ? null : LOG_LOST;
  }
}

/** Returns false also if the path cannot be checked. */
function leadsTo(path: string, { dev, ino }: Identity): boolean {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found !== undefined && found.dev === dev && found.ino === ino;
  } catch {
    return false;
  }
}
