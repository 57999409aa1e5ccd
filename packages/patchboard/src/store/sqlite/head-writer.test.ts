import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import type { Log } from '../../core/ports.ts';
import { anEntry, digest } from '../samples.contract.ts';
import { HeadWriter } from './head-writer.ts';
import { sqliteStore } from './sqlite-store.ts';
import { headText, readHead, type StoreHead } from './store-head.ts';
import { waitFor } from '../../../test/support/wait-for.ts';

const START: StoreHead = { storeId: 'id', seq: 0, hash: 'h0', keysExisted: false };

let folder: string;
let file: string;
let logged: string[];
let mayWrite: boolean;
let writer: HeadWriter;

beforeEach(async () => {
  folder = join(await aFolder(), 'data');
  mkdirSync(folder);
  file = join(folder, 'store.db');
  logged = [];
  mayWrite = true;
  const write = (event: string): void => void logged.push(event);
  const log: Log = { info: write, warn: write, error: write };
  writer = new HeadWriter({ databaseFile: file, digest, log, mayWrite: () => mayWrite }, START, START);
});
afterEach(() => vi.useRealTimers());

function written(): StoreHead | null {
  const found = readHead(file, digest);
  return found.kind === 'read' ? found.head : null;
}

/** Waits until the file contains this row; fake timers do not advance meanwhile. */
async function untilWritten(seq: number): Promise<void> {
  while (written()?.seq !== seq) await new Promise(setImmediate);
}

describe('HeadWriter', () => {
  it('writes at once after an idle time, and then once a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    writer.advance(1, 'h1');
    vi.advanceTimersByTime(0);
    await untilWritten(1);
    await writer.flush();
    for (let seq = 2; seq <= 100; seq += 1) writer.advance(seq, `h${seq}`);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(999);
    expect([vi.getTimerCount(), written()?.seq]).toEqual([1, 1]);
    vi.advanceTimersByTime(1);
    await untilWritten(100);
    expect(written()).toEqual({ ...START, seq: 100, hash: 'h100' });
  });

  it('writes `keysExisted` at once, without waiting for the interval', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    writer.advance(1, 'h1');
    await writer.flush();
    writer.advance(2, 'h2');
    await writer.setKeysExisted(true);
    expect(written()).toEqual({ storeId: 'id', seq: 2, hash: 'h2', keysExisted: true });
  });

  it('has written everything when it is closed, including changes during a write', async () => {
    writer.advance(1, 'h1');
    const writing = writer.flush();
    writer.advance(2, 'h2');
    await Promise.all([writing, writer.close()]);
    expect(written()?.seq).toBe(2);
    expect(existsSync(`${file}-head.new`)).toBe(false);
  });

  it('logs the first failure, and retries', async () => {
    rmSync(folder, { recursive: true });
    writer.advance(1, 'h1');
    await writer.flush();
    await writer.flush();
    expect(logged).toEqual(['store.head_failed']);
    mkdirSync(folder);
    await writer.flush();
    expect([written()?.seq, writer.isWritten]).toEqual([1, true]);
  });

  it('removes its draft if the files were replaced during the write', async () => {
    const results = [true, false];
    const parts = { databaseFile: file, digest, log: undefined, mayWrite: () => results.shift() ?? false };
    const late = new HeadWriter(parts, START, START);
    late.advance(1, 'h1');
    await late.close();
    expect([results, written(), existsSync(`${file}-head.new`)]).toEqual([[], null, false]);
  });

  it('changes nothing while the files of the store are not in place', async () => {
    mayWrite = false;
    writer.advance(1, 'h1');
    await writer.close();
    expect([written(), existsSync(`${file}-head.new`)]).toEqual([null, false]);
  });
});

describe('the head file of a store', () => {
  it('exists after the first opening, follows the commits, and is exact after a close', async () => {
    const store = await sqliteStore({ file, digest });
    expect(written()).toMatchObject({ seq: 0, keysExisted: false });
    const { storeId } = written()!;
    await store.append([anEntry()]);
    await waitFor(() => expect(written()?.seq).toBe(1));
    await store.putDocument('key', 'k', '{}', [anEntry()], [{ kind: 'local_mode', id: 'ended', body: '{}' }]);
    expect(written()).toMatchObject({ seq: 2, keysExisted: true });
    await store.deleteDocument('key', 'k', [anEntry()]);
    await store.append([anEntry()]);
    const head = await store.ledgerHead();
    await store.close();
    expect(written()).toEqual({ storeId, ...head, keysExisted: true });
    const text = readFileSync(`${file}-head`, 'utf8');
    expect(text).toBe(headText(written()!, digest));
    const again = await sqliteStore({ file, digest });
    await again.close();
    expect(readFileSync(`${file}-head`, 'utf8')).toBe(text);
  });
});
