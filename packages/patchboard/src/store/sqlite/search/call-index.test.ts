import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endedAt } from '../../../core/call/call.ts';
import { StorageUnavailable } from '../../../core/failures.ts';
import { LedgerSource } from '../../../core/search/index-source.ts';
import { indexWriterContract } from '../../index-writer.contract.ts';
import { memoryStore } from '../../memory/memory-store.ts';
import { digest } from '../../samples.contract.ts';
import { aBatch, endedCall, endedCalls } from '../../search-samples.contract.ts';
import { searchContract } from '../../search.contract.ts';
import { accessProblem } from './index-file.ts';
import { IndexOwner } from './index-owner.ts';
import { RequestedIndex, type IndexRequest } from './index-methods.ts';

/** The index without its thread. */
function openIndex(file: string): { index: RequestedIndex; close: () => void } {
  const owner = new IndexOwner(file, () => Date.now());
  const index = new RequestedIndex(
    async (method, ...args) => owner.handle(structuredClone({ method, args }) as IndexRequest) as never,
  );
  return { index, close: () => owner.close() };
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-search-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

indexWriterContract('CallIndex', async () => {
  const file = join(folder, 'search.db');
  let opened = openIndex(file);
  return {
    search: opened.index,
    writer: opened.index,
    reopen: async () => {
      opened.close();
      opened = openIndex(file);
      return { search: opened.index, writer: opened.index };
    },
    cleanup: async () => opened.close(),
  };
});

searchContract('CallIndex', async () => {
  const { index, close } = openIndex(join(folder, 'search.db'));
  const store = memoryStore({ digest });
  const source = new LedgerSource(store);
  return {
    store: Object.assign(store, { search: index }),
    index: async () => {
      for (;;) {
        const batch = await source.read(await index.position());
        if (batch === null) return;
        expect(await index.apply(batch)).toBe(true);
      }
    },
    cleanup: async () => close(),
  };
});

describe('an index file', () => {
  const count = async ({ index }: ReturnType<typeof openIndex>): Promise<number> =>
    (await index.find({ tenant: 'acme' }, { by: 'created', isAscending: true }, null, 1000)).length;

  it('is readable by its owner only', async () => {
    const file = join(folder, 'search.db');
    const opened = openIndex(file);
    await opened.index.apply(aBatch(0, endedCalls(1)));
    for (const name of [file, `${file}-wal`]) expect(statSync(name).mode & 0o777).toBe(0o600);
    opened.close();
  });

  it('is made anew if it is no database, damaged, or of another version', async () => {
    const file = join(folder, 'search.db');
    const fill = async (): Promise<void> => {
      const opened = openIndex(file);
      await opened.index.clear();
      await opened.index.apply(aBatch(0, endedCalls(400)));
      opened.close();
    };
    const damages = [
      () => writeFileSync(file, 'not a database, but long enough to have a header of its own'.repeat(100)),
      () => {
        const bytes = readFileSync(file);
        writeFileSync(file, bytes.fill(0xff, 4096, bytes.length - 4096));
      },
      () => writeFileSync(file, readFileSync(file).fill(9, 60, 64)),
      () => rmSync(file),
    ];
    for (const damage of damages) {
      await fill();
      damage();
      const opened = openIndex(file);
      expect(await count(opened)).toBe(0);
      expect(await opened.index.position()).toBe(0);
      expect(await opened.index.apply(aBatch(0, endedCalls(10)))).toBe(true);
      expect(await count(opened)).toBeGreaterThan(5);
      opened.close();
    }
  });

  it('has no word of the arguments of calls that were removed or forgotten, nor has its log', async () => {
    const file = join(folder, 'search.db');
    const opened = openIndex(file);
    const words = Array.from({ length: 600 }, (_, n) => secretWord(n));
    const calls = words.map((word, n) =>
      endedCall(n + 1, 'COMPLETED', TIMES, {
        argsJson: JSON.stringify({ note: `the common words and ${word}`, city: 'Oslo' }),
      }),
    );
    // Several batches make several segments of the index of words.
    for (let from = 0; from < calls.length; from += 100)
      await opened.index.apply(aBatch(from, calls.slice(from, from + 100)));
    expect(leftIn(file, words)).toHaveLength(600);

    const removed = calls.filter((_, n) => n % 3 === 0);
    await opened.index.remove(
      removed.map(({ tenant, runId, id, createdAt }) => ({ tenant, runId, id, createdAt })),
    );
    const kept = words.filter((_, n) => n % 3 !== 0);
    expect(leftIn(file, words)).toEqual(kept);
    const has = async (text: string): Promise<number> =>
      (await opened.index.find({ tenant: 'acme', texts: [text] }, OLDEST, null, 1000)).length;
    expect([await has(words[0]!), await has(words[1]!), await has('common words')]).toEqual([0, 1, 400]);

    const [, , , , , , , eighth] = calls;
    await opened.index.forget(endedAt(eighth!)!);
    expect(leftIn(file, words)).toEqual(words.filter((_, n) => n % 3 !== 0 && n >= 7));
    await opened.index.forget(Number.MAX_SAFE_INTEGER);
    expect(leftIn(file, [...words, 'oslo'])).toEqual([]);
    opened.close();
  });

  it('that cannot be read or written is left alone, named with what to do, and used once it can', async () => {
    const file = join(folder, 'search.db');
    mkdirSync(file);
    writeFileSync(join(file, 'something'), 'else');
    const { index, close } = openIndex(file);
    const refused = await index.position().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StorageUnavailable);
    const { message, why } = refused as StorageUnavailable;
    expect(message).toContain(
      `the search index ${file} cannot be used (EISDIR: illegal operation on a directory)`,
    );
    expect(message).toContain('move it away');
    // Callers do not learn where the server has its files.
    expect(why).toEqual({
      code: 'search_index_unusable',
      params: { file: 'search.db', problem: 'EISDIR: illegal operation on a directory' },
    });
    await expect(index.clear()).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(index.apply(aBatch(0, endedCalls(3)))).rejects.toBeInstanceOf(StorageUnavailable);
    expect(readFileSync(join(file, 'something'), 'utf8')).toBe('else');
    rmSync(file, { recursive: true });
    expect(await index.apply(aBatch(0, endedCalls(3)))).toBe(true);
    expect(await index.position()).toBe(3);
    close();
  });
});

describe('an error of the index file', () => {
  const problemOf = (error: unknown): unknown => {
    const found = accessProblem(error, '/data/patchboard-search.db');
    return found instanceof StorageUnavailable ? found.why.params?.['problem'] : found;
  };
  const sqliteError = (errcode: number, message: string): Error =>
    Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

  it('of access is reported without the path, and any other stays as it is', () => {
    const denied = "EACCES: permission denied, open '/data/patchboard-search.db'";
    expect(problemOf(Object.assign(new Error(denied), { code: 'EACCES' }))).toBe('EACCES: permission denied');
    expect(problemOf(Object.assign(new Error('Path is /x'), { code: 'ERR_FS_EISDIR' }))).toBe(
      'ERR_FS_EISDIR',
    );
    const cannotOpen = sqliteError(14 + 256, 'unable to open database file');
    expect(problemOf(cannotOpen)).toBe('unable to open database file');
    for (const other of [sqliteError(13, 'database or disk is full'), new TypeError('a bug'), 'text'])
      expect(problemOf(other)).toBe(other);
  });
});

const TIMES = { waitedMs: 1, ranMs: 1 };
const OLDEST = { by: 'created', isAscending: true } as const;

/** A word that begins in its own way: SQLite leaves out what a word has in common with the one before it. */
function secretWord(n: number): string {
  return digest.sha256(`word ${n}`).slice(0, 24);
}

/** The words of which the file or its log has at least the last two thirds. */
function leftIn(file: string, words: readonly string[]): string[] {
  const bytes = [file, `${file}-wal`].flatMap((name) => (existsSync(name) ? [readFileSync(name)] : []));
  return words.filter((word) => bytes.some((content) => content.includes(word.slice(word.length / 3))));
}
