import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import type { Log } from '../../core/ports.ts';
import type { Disk } from './group-commit.ts';
import { OpenFiles } from './open-files.ts';

/** Syncs SQLite's write-ahead log, which is the same file while the database is open. */
export class WalDisk implements Disk {
  readonly #descriptor: number;
  readonly #files: OpenFiles;

  constructor(databaseFile: string, log: Log | undefined) {
    this.#descriptor = openSync(`${databaseFile}-wal`, 'r');
    this.#files = new OpenFiles(databaseFile, this.#descriptor, log);
  }

  problem(): string | null {
    return this.#files.problem();
  }

  /** Returns false if other files are in place of the open ones; these must not be changed. */
  isInPlace(): boolean {
    return this.#files.problemNow() === null;
  }

  sync(done: (error: Error | null) => void): void {
    fdatasync(this.#descriptor, done);
  }

  syncNow(): void {
    fdatasyncSync(this.#descriptor);
  }

  close(): void {
    this.#files.close();
    closeSync(this.#descriptor);
  }
}
