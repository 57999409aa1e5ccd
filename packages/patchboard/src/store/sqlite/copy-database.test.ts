import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, it } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import { digest } from '../samples.contract.ts';
import { copyDatabase } from './copy-database.ts';
import { sqliteStore } from './sqlite-store.ts';

/** Enough rounds through the I/O threads for the first step of a copy. */
const ROUNDS = 20;

let copyFile: string;
let database: DatabaseSync;

beforeEach(async () => {
  const folder = await aFolder();
  copyFile = join(folder, 'copy.db');
  await (await sqliteStore({ file: join(folder, 'patchboard.db'), digest })).close();
  database = new DatabaseSync(join(folder, 'patchboard.db'));
  database.exec('create table t (n)');
  return () => database.close();
});

/** Begins a copy while a transaction writes, and returns after the copy has tried to begin. */
async function duringTransaction(signal: AbortSignal): Promise<{ readonly copying: Promise<unknown> }> {
  database.exec('begin immediate; insert into t values (1)');
  const copying = copyDatabase(database, copyFile, signal);
  copying.catch(() => undefined);
  while (!existsSync(copyFile)) await stat('.');
  for (let round = 0; round < ROUNDS; round += 1) await stat('.');
  return { copying };
}

it('begins after the transaction that writes', async () => {
  const { copying } = await duringTransaction(new AbortController().signal);
  database.exec('commit');
  await copying;
  const copy = new DatabaseSync(copyFile);
  expect(copy.prepare('select n from t').all()).toEqual([{ n: 1 }]);
  copy.close();
});

it('can be aborted before it begins, and leaves no file', async () => {
  const stop = new AbortController();
  const { copying } = await duringTransaction(stop.signal);
  stop.abort(new Error('gone'));
  await expect(copying).rejects.toThrow('gone');
  expect(existsSync(copyFile)).toBe(false);
  database.exec('rollback');
});
