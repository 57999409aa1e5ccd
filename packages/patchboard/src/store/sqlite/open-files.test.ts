import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import { StorageUnavailable } from '../../core/failures.ts';
import type { Log, Store } from '../../core/ports.ts';
import { anEntry, digest } from '../samples.contract.ts';
import { sqliteStore } from './sqlite-store.ts';
import { waitFor } from '../../../test/support/wait-for.ts';

let folder: string;
let file: string;
let store: Store;
let logged: string[];

beforeEach(async () => {
  folder = join(await aFolder(), 'data');
  mkdirSync(folder);
  file = join(folder, 'patchboard.db');
  logged = [];
  const write = (event: string): void => void logged.push(event);
  const log: Log = { info: write, warn: write, error: write };
  store = await sqliteStore({ file, digest, log });
  await store.append([anEntry()]);
});

const untilProblem = async (words: RegExp): Promise<void> =>
  await waitFor(() => expect(store.writeProblem()).toMatch(words));

describe('a store whose files are', () => {
  it('moved away refuses writes, and accepts them once they are back', async () => {
    renameSync(folder, `${folder}-moved`);
    await untilProblem(/^the data folder was moved, deleted or replaced .* move it back, or restart/);
    await expect(store.append([anEntry()])).rejects.toThrow(StorageUnavailable);
    expect((await store.readLedger({}, 0, 10)).length).toBe(1);
    renameSync(`${folder}-moved`, folder);
    await waitFor(() => expect(store.writeProblem()).toBeNull());
    await store.append([anEntry()]);
    expect((await store.ledgerHead()).seq).toBe(2);
    expect(logged).toEqual(['store.lost', 'store.found']);
    await store.close();
  });

  it('replaced by others refuses writes', async () => {
    renameSync(folder, `${folder}-moved`);
    mkdirSync(folder);
    const other = await sqliteStore({ file, digest });
    await untilProblem(/^the data folder was moved, deleted or replaced/);
    await expect(store.append([anEntry()])).rejects.toThrow(StorageUnavailable);
    await other.append([anEntry()]);
    await store.close();
    // Closing one store did not change the log of the other.
    expect(existsSync(`${file}-wal`)).toBe(true);
    await other.close();
    expect(logged).toEqual(['store.lost']);
  });

  it('without their log refuses writes, and a close saves the content of the log', async () => {
    rmSync(`${file}-wal`);
    await untilProblem(/^the log of the store \(patchboard\.db-wal\) was .* SIGTERM/);
    await expect(store.append([anEntry()])).rejects.toThrow(StorageUnavailable);
    await store.close();
    const again = await sqliteStore({ file, digest });
    expect((await again.ledgerHead()).seq).toBe(1);
    await again.close();
  });
});
