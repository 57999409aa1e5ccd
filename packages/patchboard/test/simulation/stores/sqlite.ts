import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../../src/core/ports.ts';
import { nodeDigest } from '../../../src/runtime/digest.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { StoreKind } from './store-kind.ts';

/** In memory where there is such a folder: an fsync then costs nothing. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/**
 * The SQLite store on files. The files of a process that was killed are copied as they are, and opened by the next one: what
 * the first process had not committed is lost.
 */
export const sqlite: StoreKind = {
  name: 'sqlite',
  isShared: false,
  isSynchronous: false,
  open: async () => {
    const folder = await mkdtemp(join(BASE, 'patchboard-simulation-'));
    let opened = 0;
    let store: Store | null = null;
    const current = (): Store => {
      if (store === null) throw new Error('the simulated process has no open store');
      return store;
    };
    const filesOf = (number: number): string => join(folder, String(number));
    const openNext = async (): Promise<void> => {
      const killed = store;
      opened += 1;
      mkdirSync(filesOf(opened));
      if (killed !== null) {
        copyFiles(filesOf(opened - 1), filesOf(opened));
        await killed.close();
        await rm(filesOf(opened - 1), { recursive: true });
      }
      store = await sqliteStore({ file: join(filesOf(opened), FILE), digest: nodeDigest });
    };
    await openNext();
    let isFirst = true;
    return {
      get store() {
        return current();
      },
      reopen: async () => {
        if (!isFirst) await openNext();
        isFirst = false;
      },
      close: async () => {
        await current().close();
        await rm(folder, { recursive: true });
      },
    };
  },
};

const FILE = 'patchboard.db';

/** Synchronously: the process that writes them does nothing meanwhile. A draft of the head file may disappear at any time. */
function copyFiles(from: string, to: string): void {
  for (const name of readdirSync(from))
    if (!name.endsWith('.new')) copyFileSync(join(from, name), join(to, name));
}
