import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import type { Log } from '../../core/ports.ts';
import type { Disk } from './group-commit.ts';
import { OpenFiles } from './open-files.ts';

/** Syncs the log in which SQLite keeps what was committed. It is one file as long as the database is open. */
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

  /** False: what is in the place of the open files must not be touched. */
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
