import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aCall, anEntry, digest, insertAll } from '../samples.contract.ts';
import { verifiedLedger } from '../ledger.contract.ts';
import { sqliteStore } from './sqlite-store.ts';
import { StoreRefused } from '../store-refused.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-open-'));
  file = join(folder, 'store.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function fill(calls = 20): Promise<void> {
  const store = await sqliteStore({ file, digest });
  await insertAll(
    store,
    Array.from({ length: calls }, (_, index) => aCall(index + 1)),
  );
  await store.close();
}

function alter(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

/** Expects opening to fail with one line that contains `words`, without a change of the files. */
async function expectRefusal(words: RegExp): Promise<void> {
  const before = readFileSync(file);
  const refusal: unknown = await sqliteStore({ file, digest }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(StoreRefused);
  const { message } = refusal as StoreRefused;
  expect(message).toMatch(words);
  expect(message).toContain(file);
  expect(message).not.toContain('\n');
  expect(readFileSync(file).equals(before)).toBe(true);
}

describe('opening a file that cannot be used', () => {
  it('refuses one that a newer version wrote', async () => {
    await fill();
    alter('pragma user_version = 1000');
    await expectRefusal(/newer Patchboard \(store version 1000/);
  });

  it('refuses one that a newer version wrote last, before a crash', async () => {
    await fill();
    const writer = await startProcess(
      `database.exec('pragma journal_mode = wal; pragma user_version = 1000'); ready();`,
      `import { DatabaseSync } from 'node:sqlite'; const database = new DatabaseSync(${JSON.stringify(file)});`,
    );
    await kill(writer);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    const log = readFileSync(`${file}-wal`);
    await expectRefusal(/newer Patchboard/);
    expect(readFileSync(`${file}-wal`).equals(log)).toBe(true);
  });

  it('refuses one that is not SQLite', async () => {
    writeFileSync(file, 'name,age\n'.repeat(2000));
    await expectRefusal(/is not a Patchboard store/);
  });

  it('refuses the database of another program', async () => {
    alter('create table recipes (name text)');
    await expectRefusal(/another program/);
  });

  it('refuses one that was cut short', async () => {
    await fill(200);
    truncateSync(file, statSync(file).size - 3 * 8192);
    await expectRefusal(/is damaged/);
  });

  it('refuses one with pages overwritten', async () => {
    await fill(200);
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 8192, bytes.length - 8192);
    writeFileSync(file, bytes);
    await expectRefusal(/is damaged/);
  });

  it.each([
    ['cut at its end', 'delete from ledger where seq > 15', /should end at row 20/],
    ['changed near its end', `update ledger set body = '{}' where seq = 17`, /row 17 does not fit/],
    ['changed in its first row', `update ledger set at = 1 where seq = 1`, /row 1 does not fit/],
    ['short of a row', 'delete from ledger where seq = 10', /row 11 does not fit/],
  ])('refuses one whose ledger was %s', async (_how, sql, words) => {
    await fill();
    alter(`drop trigger ledger_keeps_rows; drop trigger ledger_loses_no_rows; ${sql}`);
    await expectRefusal(words);
  });

  it.each(['missing', 'a file'])('refuses one whose folder is %s', async (what) => {
    const parent = join(folder, 'data');
    if (what === 'a file') writeFileSync(parent, '');
    const opening = sqliteStore({ file: join(parent, 'store.db'), digest });
    await expect(opening).rejects.toThrow(/cannot be opened .*; check that its folder exists/);
  });

  it('refuses a folder in its place', async () => {
    mkdirSync(file);
    await expect(sqliteStore({ file, digest })).rejects.toThrow(StoreRefused);
  });
});

describe('opening a file', () => {
  it('creates one that only this user can read', async () => {
    await fill();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('accepts an empty file, and one left by a crash before the first table', async () => {
    writeFileSync(file, '');
    await fill();
    rmSync(file);
    rmSync(`${file}-head`);
    alter('pragma journal_mode = wal; create table t (a); drop table t');
    await fill();
  });

  it('refuses a second store in the same process, and the first one still works', async () => {
    const store = await sqliteStore({ file, digest });
    await expect(sqliteStore({ file, digest })).rejects.toThrow(/in use by another process/);
    await insertAll(store, [aCall(1)]);
    await expect(sqliteStore({ file, digest })).rejects.toThrow(StoreRefused);
    await store.close();
    await fill(0);
  });

  it('refuses it while another process has it open, and accepts it once that process was killed', async () => {
    const owner = await startProcess(`
      const store = await sqliteStore({ file, digest });
      await store.append([${JSON.stringify(anEntry())}]);
      ready();
    `);
    await expectRefusal(/in use by another process/);
    await kill(owner);
    const store = await sqliteStore({ file, digest });
    expect(await verifiedLedger(store)).toHaveLength(1);
    await store.close();
  });

  it('finds everything that was acknowledged before a kill in the middle of writing', async () => {
    const writer = await startProcess(`
      const store = await sqliteStore({ file, digest });
      ready();
      for (let n = 1; ; n += 1) {
        const entry = { ...${JSON.stringify(anEntry())}, body: JSON.stringify({ n }) };
        void store.append([entry]).then(() => process.stdout.write(n + '\\n'));
        if (n % 20 === 0) await new Promise(setImmediate);
      }
    `);
    let acknowledged = '';
    for await (const chunk of writer.stdout!) {
      acknowledged += String(chunk);
      if (acknowledged.length > 20_000) writer.kill('SIGKILL');
    }
    const last = Number(acknowledged.split('\n').at(-2));
    const store = await sqliteStore({ file, digest });
    const bodies = (await verifiedLedger(store)).map(({ body }) => body);
    expect(last).toBeGreaterThan(1000);
    expect(bodies.length).toBeGreaterThanOrEqual(last);
    expect(bodies.slice(0, last)).toEqual(Array.from({ length: last }, (_, index) => `{"n":${index + 1}}`));
    await store.close();
  });
});

describe('the database itself', () => {
  it('refuses changes and deletions of ledger rows', async () => {
    await fill();
    for (const sql of ['delete from ledger', 'update ledger set at = 0']) {
      expect(() => alter(sql)).toThrow(/append-only/);
    }
  });
});

const STORE_MODULE = new URL('./sqlite-store.ts', import.meta.url).href;

const WITH_STORE = `
  import { hash } from 'node:crypto';
  import { sqliteStore } from ${JSON.stringify(STORE_MODULE)};
  const digest = { sha256: (text) => hash('sha256', text, 'hex') };
`;

/** Runs `body` in another process and resolves when it calls `ready()`; the process keeps running. */
async function startProcess(body: string, imports: string = WITH_STORE): Promise<ChildProcess> {
  const script = `${imports}
    const file = ${JSON.stringify(file)};
    const ready = () => process.stdout.write('ready\\n');
    setInterval(() => {}, 1000);
    ${body}`;
  const options = ['--conditions=patchboard-source', '--input-type=module', '--eval', script];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (chunk) => (complaints += String(chunk)));
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the other process ended: ${complaints}`);
  });
  ended.catch(() => {});
  const isReady = new Promise<void>((resolve) => {
    child.stdout.once('readable', () => {
      // Reads the first line only; the test reads the rest.
      child.stdout.read('ready\n'.length);
      resolve();
    });
  });
  await Promise.race([isReady, ended]);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
