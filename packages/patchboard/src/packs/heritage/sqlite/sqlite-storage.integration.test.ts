import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../../core/failures.ts';
import { aContent, aQuery, heritageStorageContract } from '../storage.contract.ts';
import type { HeritageStorage } from '../storage.ts';
import { sqliteHeritageStorage } from './sqlite-storage.ts';

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-heritage-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

heritageStorageContract('sqliteHeritageStorage', () => sqliteHeritageStorage(newFile()));

describe('sqliteHeritageStorage', () => {
  const scope = { tenant: 'yantian', site: 'yantian-main' };

  it('keeps its data over a restart, and can be opened by two processes', async () => {
    const file = newFile();
    const first = sqliteHeritageStorage(file);
    const second = sqliteHeritageStorage(file);
    await first.addContent(scope, aContent('one', { title: '甲' }));
    await second.addContent(scope, aContent('two', { title: '乙' }));
    await first.close();
    await second.close();
    const third = sqliteHeritageStorage(file);
    expect((await third.exportSite(scope))?.contents.map(({ id }) => id)).toEqual(['one', 'two']);
    await third.close();
  });

  it('fails with a retryable failure while it is busy, and loses nothing', async () => {
    const file = newFile();
    const storage = sqliteHeritageStorage(file);
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const refused = await storage.addContent(scope, aContent('one')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ToolFailure);
    expect((refused as ToolFailure).failure).toMatchObject({ code: 'upstream_unreachable', retryable: true });
    other.exec('rollback');
    other.close();
    await storage.addContent(scope, aContent('one'));
    await storage.close();
  });

  it('searches in another thread, without blocking the event loop', async () => {
    const storage = sqliteHeritageStorage(newFile());
    await storage.addContent(scope, aContent('one', { title: '古井' }));
    let hasTurned = false;
    setImmediate(() => (hasTurned = true));
    expect(await storage.search(scope, aQuery('古井'))).toMatchObject({ total: 1 });
    expect(hasTurned).toBe(true);
    // A new item is found at once, also by a thread that has searched before.
    await storage.addContent(scope, aContent('two', { title: '古樟' }));
    expect(await storage.search(scope, aQuery('古'))).toMatchObject({ total: 2 });
    await storage.close();
  });

  it('returns its own result for each of many searches', async () => {
    const storage = sqliteHeritageStorage(newFile());
    const words = Array.from({ length: 20 }, (_, index) => `word${String.fromCharCode(97 + index)}`);
    for (const word of words) await storage.addContent(scope, aContent(word));
    const found = await Promise.all(words.map((word) => storage.search(scope, aQuery(word))));
    expect(found.map(({ items }) => items.map(({ id }) => id))).toEqual(words.map((word) => [word]));
    await storage.close();
  });

  it('rejects pending searches when it cannot search, and recovers', async () => {
    const file = newFile();
    const storage = sqliteHeritageStorage(file);
    await storage.addContent(scope, aContent('one', { title: '古井' }));
    renameSync(file, `${file}.away`);
    const refused = await storage.search(scope, aQuery('古井')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ToolFailure);
    expect((refused as ToolFailure).failure).toMatchObject({ code: 'upstream_unreachable', retryable: true });
    renameSync(`${file}.away`, file);
    expect(await storage.search(scope, aQuery('古井'))).toMatchObject({ total: 1 });
    const left = storage.search(scope, aQuery('古井'));
    await Promise.all([expect(left).rejects.toThrow('closed'), storage.close()]);
    await expect(storage.search(scope, aQuery('古井'))).rejects.toThrow('closed');
  });

  it('rejects pending searches when it is closed, also those that the thread has done', async () => {
    const storage = sqliteHeritageStorage(newFile());
    await storage.addContent(scope, aContent('one', { title: '古井' }));
    const [first, ...others] = Array.from({ length: 200 }, () => storage.search(scope, aQuery('古井')));
    await first;
    const ends = others.map((search) => search.then(() => 'found', String));
    await storage.close();
    expect(new Set((await Promise.all(ends)).map((end) => end.includes('closed')))).toEqual(new Set([true]));
  });

  it('refuses a file of another program', () => {
    const foreign = newFile();
    const database = new DatabaseSync(foreign);
    database.exec('create table x (y); pragma user_version = 3');
    database.close();
    expect(() => sqliteHeritageStorage(foreign)).toThrow(/another program/);
    const text = newFile();
    writeFileSync(text, 'not a database at all, but long enough to be looked at'.repeat(100));
    expect(() => sqliteHeritageStorage(text)).toThrow();
    const newer = newFile();
    const later = new DatabaseSync(newer);
    later.exec('pragma application_id = 0x50626872; pragma user_version = 99');
    later.close();
    expect(() => sqliteHeritageStorage(newer)).toThrow(/newer/);
  });
});

describe('search over 100,000 items', () => {
  const ITEMS = 100_000;
  const scope = { tenant: 'big', site: 'main' };
  let storage: HeritageStorage;

  /** Every item contains its number in words and digits; some contain unique words. */
  function generated(number: number): ReturnType<typeof aContent> {
    const digits = String(number).replaceAll(/\d/g, (digit) => '零一二三四五六七八九'.charAt(Number(digit)));
    return aContent(`item_${number}`, {
      title: number % 1000 === 0 ? `严氏家训第${digits}则` : `村志第${digits}篇`,
      body: `第${digits}篇记村中旧事，entry ${number} of the chronicle${number % 25_000 === 7 ? '，唯此篇说麒麟' : ''}。`,
      tags: number % 2 === 0 ? ['双'] : ['单'],
      status: number % 10 === 0 ? 'draft' : 'published',
      content_type: number % 1000 === 0 ? 'rule' : 'chronicle',
    });
  }

  beforeAll(async () => {
    storage = sqliteHeritageStorage(newFile());
    const data = { site_name: '大村', npcs: [], prompts: [], pois: [], routes: [] };
    const contents = Array.from({ length: ITEMS }, (_, index) => generated(index + 1));
    await storage.importSite(scope, { ...data, contents });
  }, 180_000);
  afterAll(async () => {
    await storage.close();
  });

  it.each([
    ['a word in every item', '村中旧事', {}, 90_000],
    ['one character in every item', '村', {}, 90_000],
    ['an English word in every item', 'chronicle', {}, 90_000],
    ['a word in few items', '麒麟', {}, 4],
    ['one character in few items', '麟', {}, 4],
    ['a word in some items', '严氏家训', { status: 'draft' }, 100],
    ['a number in words', '第七七七七篇', {}, 1],
    ['a number in digits', '77777', {}, 1],
    ['words of both kinds', '麒麟 chronicle', {}, 4],
    ['a word and a type', '村', { contentType: 'rule', status: 'draft' }, 100],
    ['a word and a tag', '麒麟', { tags: ['单'] }, 4],
    ['a word and a tag that is not there', '麒麟', { tags: ['双'] }, 0],
    ['a word that is not there', '凤凰', {}, 0],
  ])('finds %s: %s', async (_name, text, given, total) => {
    const found = await storage.search(scope, aQuery(text, given));
    expect(found.total).toBe(total);
    expect(found.items).toHaveLength(Math.min(total, 10));
    expect(new Set(found.items.map(({ id }) => id)).size).toBe(found.items.length);
  });

  it('returns hits in the title first, also with too many hits for ranking', async () => {
    await storage.addContent(scope, aContent('titled', { title: '旧事的旧事', body: '村中旧事' }));
    const { items } = await storage.search(scope, aQuery('旧事'));
    expect(items[0]?.id).toBe('titled');
  });
});
