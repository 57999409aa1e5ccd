import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import type { Disk } from './group-commit.ts';

/** Syncs the log in which SQLite keeps what was committed. It is one file as long as the database is open. */
export class WalDisk implements Disk {
  readonly #descriptor: number;

  constructor(databaseFile: string) {
    this.#descriptor = openSync(`${databaseFile}-wal`, 'r');
  }

  sync(done: (error: Error | null) => void): void {
    fdatasync(this.#descriptor, done);
  }

  syncNow(): void {
    fdatasyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
