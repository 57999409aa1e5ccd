import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import { verifiedLedger } from '../ledger.contract.ts';
import { anEntry, digest } from '../samples.contract.ts';
import { acceptLoss } from './accept-loss.ts';
import { readOnlyStore } from './read-only.ts';
import { sqliteStore } from './sqlite-store.ts';
import { headText, readHead, type StoreHead } from './store-head.ts';
import { StoreRefused } from '../store-refused.ts';
import { waitFor } from '../../../test/support/wait-for.ts';

const ROWS = 40;

/** The files of a store after a power loss: all rows are in the log and known to the head file. */
let crashed: string;
/** A copy of them. */
let folder: string;
let file: string;

beforeAll(async () => {
  const root = mkdtempSync(join(tmpdir(), 'patchboard-loss-'));
  const running = join(root, 'running');
  crashed = join(root, 'crashed');
  mkdirSync(running);
  const store = await sqliteStore({ file: join(running, 'patchboard.db'), digest });
  for (let row = 0; row < ROWS; row += 1) await store.append([anEntry()]);
  await waitFor(() => expect(headIn(running).seq).toBe(ROWS));
  cpSync(running, crashed, { recursive: true });
  await store.close();
});
afterAll(() => rmSync(join(crashed, '..'), { recursive: true }));

beforeEach(async () => {
  folder = join(await aFolder(), 'data');
  file = join(folder, 'patchboard.db');
  cpSync(crashed, folder, { recursive: true });
});

function headIn(dataFolder: string): StoreHead {
  const found = readHead(join(dataFolder, 'patchboard.db'), digest);
  if (found.kind !== 'read') throw new Error(`the head file is ${found.kind}`);
  return found.head;
}

/** The files by name, without the index and the empty log that reading a database in WAL mode may create. */
function contents(): Map<string, string> {
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))] as const);
  const kept = files.filter(([name, bytes]) => !name.endsWith('-shm') && bytes.length > 0);
  return new Map(kept.map(([name, bytes]) => [name, digest.sha256(bytes.toString('base64'))]));
}

function flipBit(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
}

const wal = (): string => `${file}-wal`;
const writeHead = (change: Partial<StoreHead>): void =>
  writeFileSync(`${file}-head`, headText({ ...headIn(folder), ...change }, digest));

const NAMES_ROW = `and its head file names (?:ledger )?row ${ROWS}`;

/** Ways in which a store loses rows that its head file records, with the expected message. */
const LOSSES: readonly (readonly [how: string, lose: () => void, words: RegExp])[] = [
  ['cut to 0 bytes', () => truncateSync(file, 0), new RegExp(`db is empty, ${NAMES_ROW}`)],
  ['moved away', () => rmSync(file), new RegExp(`db is missing, ${NAMES_ROW}`)],
  ['without its log', () => rmSync(wal()), new RegExp(`db is empty, ${NAMES_ROW}`)],
  [
    'with the header of its log zeroed',
    () => writeFileSync(wal(), readFileSync(wal()).fill(0, 0, 32)),
    new RegExp(`db is empty, ${NAMES_ROW}`),
  ],
  [
    'with one bit of its log flipped',
    () => flipBit(wal(), readFileSync(wal()).length - 60_000),
    new RegExp(`db ends at ledger row \\d+, ${NAMES_ROW}`),
  ],
  [
    'of another id',
    () => writeHead({ storeId: 'other' }),
    /db is another store \(id \w+\) than its head file/,
  ],
  [
    'with another row',
    () => writeHead({ hash: 'f'.repeat(64) }),
    /db has another ledger row 40 than its head/,
  ],
  ['with a bit of its head flipped', () => flipBit(`${file}-head`, 30), /db-head is damaged \(/],
  [
    'with a torn head',
    () => truncateSync(`${file}-head`, 50),
    /db-head is damaged \(it is not a head file\)/,
  ],
];

describe('a store behind its head file', () => {
  it.each(LOSSES)('is refused and not changed: %s', async (_how, lose, words) => {
    lose();
    const before = contents();
    const refusal: unknown = await sqliteStore({ file, digest }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StoreRefused);
    const { message } = refusal as StoreRefused;
    expect(message).toMatch(words);
    expect(message).toMatch(
      /; restore the data folder from a backup, or .*: patchboard data accept-loss --data /,
    );
    expect(message).not.toContain('\n');
    expect(contents()).toEqual(before);
  });

  it.each(LOSSES)('opens once the loss is accepted, and the ledger records it: %s', async (_how, lose) => {
    lose();
    const expected = readHead(file, digest);
    const accepted = await acceptLoss(file, digest, 1);
    const store = await sqliteStore({ file, digest });
    const last = (await verifiedLedger(store)).at(-1);
    expect([last?.kind, last?.seq]).toEqual(['store.loss_accepted', accepted?.row]);
    const named = expected.kind === 'read' ? { seq: ROWS, store_id: expected.head.storeId } : null;
    if (named === null) expect(JSON.parse(last?.body ?? '')).toMatchObject({ expected: null });
    else expect(JSON.parse(last?.body ?? '')).toMatchObject({ expected: named, by: 'operator' });
    await store.close();
    expect(headIn(folder)).toMatchObject({ seq: accepted?.row, hash: last?.hash });
    expect(await acceptLoss(file, digest, 2)).toBeNull();
  });

  it('is refused if a folder has the name of the head file', async () => {
    rmSync(`${file}-head`);
    mkdirSync(`${file}-head`);
    const words = /db-head is a folder, and must be a file; restore the data folder from a backup; /;
    await expect(sqliteStore({ file, digest })).rejects.toThrow(words);
    await expect(acceptLoss(file, digest, 1)).rejects.toThrow(words);
  });

  it('keeps local mode off if keys have existed, or if that is unknown', async () => {
    writeHead({ keysExisted: true });
    truncateSync(file, 0);
    expect(await acceptLoss(file, digest, 1)).toMatchObject({ endsLocalMode: true });
    expect(headIn(folder).keysExisted).toBe(true);
    truncateSync(`${file}-head`, 10);
    expect(await acceptLoss(file, digest, 1)).toMatchObject({ endsLocalMode: true, expected: null });
    const store = await sqliteStore({ file, digest });
    expect(await store.documents('local_mode')).toHaveLength(1);
    await store.close();
  });

  it('reports the loss to read-only users', () => {
    flipBit(wal(), readFileSync(wal()).length - 60_000);
    const store = readOnlyStore(file, digest);
    expect(store.loss?.problem).toMatch(new RegExp(NAMES_ROW));
    store.close();
    rmSync(wal());
    expect(() => readOnlyStore(file, digest)).toThrow(new RegExp(NAMES_ROW));
    truncateSync(file, 0);
    expect(() => readOnlyStore(file, digest)).toThrow(/is empty/);
    rmSync(file);
    expect(() => readOnlyStore(file, digest)).toThrow(/is missing/);
  });
});

describe('a store that lost nothing', () => {
  it('opens after a crash, newer than its head file or equal to it', async () => {
    writeHead({ seq: 10, hash: hashOf(10) });
    const store = await sqliteStore({ file, digest });
    expect((await store.ledgerHead()).seq).toBe(ROWS);
    await store.close();
    expect(headIn(folder).seq).toBe(ROWS);
  });

  it('has no loss to accept', async () => {
    expect(await acceptLoss(file, digest, 1)).toBeNull();
    expect(headIn(folder).seq).toBe(ROWS);
  });

  it('gets a head file if it is missing', async () => {
    rmSync(`${file}-head`);
    await (await sqliteStore({ file, digest })).close();
    expect(headIn(folder).seq).toBe(ROWS);
  });
});

function hashOf(seq: number): string {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare('select hash from ledger where seq = ?').get(seq);
  database.close();
  return String(row?.['hash']);
}
