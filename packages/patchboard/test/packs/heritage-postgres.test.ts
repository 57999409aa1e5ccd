import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { StorageFull, ToolFailure } from '../../src/core/failures.ts';
import { postgresHeritageStorage } from '../../src/packs/heritage/postgres/postgres-storage.ts';
import type { SiteData } from '../../src/packs/heritage/records.ts';
import { sqliteHeritageStorage } from '../../src/packs/heritage/sqlite/sqlite-storage.ts';
import { aContent, aQuery, heritageStorageContract } from '../../src/packs/heritage/storage.contract.ts';
import type { HeritageStorage } from '../../src/packs/heritage/storage.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { firstCallIdAt } from '../../src/runtime/ids.ts';
import { nodeClock } from '../../src/runtime/node-clock.ts';
import { postgresStore } from '../../src/store/postgres/open.ts';
import { openHeritageStorage } from '../../src/wiring/heritage-storage.ts';
import { startPgbouncer } from '../services/pgbouncer.ts';
import { POSTGRES_VERSIONS } from '../services/postgres-binaries.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';

const HERE = { tenant: 'yantian', site: 'yantian-main' };
const NO_OTHERS = { site_name: '村', npcs: [], prompts: [], pois: [], routes: [] };

for (const version of POSTGRES_VERSIONS) {
  const { url } = await sharedPostgres(version);
  const schema = aSchema({ url });
  heritageStorageContract(`postgresHeritageStorage, version ${version}`, async () => {
    const storage = await postgresHeritageStorage({ url, schema, prepare: true });
    const client = new pg.Client(url);
    await client.connect();
    // All other tables refer to it.
    await client.query(`truncate ${schema}.heritage_sites cascade`);
    await client.end();
    return storage;
  });
}

const service = await sharedPostgres(15);

async function aStorage(schema: string): Promise<HeritageStorage> {
  const storage = await postgresHeritageStorage({ url: service.url, schema, prepare: true });
  onTestFinished(() => storage.close());
  return storage;
}

async function aClient(): Promise<pg.Client> {
  const client = new pg.Client(service.url);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('heritage data in PostgreSQL', () => {
  it('is opened and migrated by several processes at once', async () => {
    const schema = aSchema(service);
    const storages = await Promise.all([1, 2, 3].map(() => aStorage(schema)));
    for (const [index, storage] of storages.entries())
      await storage.addContent(HERE, aContent(`item${index}`));
    expect((await storages[0]?.exportSite(HERE))?.contents).toHaveLength(3);
  });

  it('is refused if a newer version wrote it', async () => {
    const schema = aSchema(service);
    await aStorage(schema);
    const client = await aClient();
    await client.query(`update ${schema}.heritage_meta set version = 99`);
    await expect(aStorage(schema)).rejects.toThrow(
      `schema ${schema} was written by a newer Patchboard (version 99)`,
    );
  });

  it('reports a full disk, and a lock that is held too long, as what they are', async () => {
    const schema = aSchema(service);
    const storage = await aStorage(schema);
    const client = await aClient();
    const failWith = async (code: string): Promise<void> =>
      void (await client.query(`create or replace function ${schema}.fail() returns trigger language plpgsql as
        $$ begin raise exception 'no' using errcode = '${code}'; end $$;
        create or replace trigger fail before insert on ${schema}.heritage_contents execute function ${schema}.fail()`));
    const data = { ...NO_OTHERS, contents: [aContent('one')] };
    await failWith('53100'); // disk_full
    await expect(storage.addContent(HERE, aContent('one'))).rejects.toBeInstanceOf(StorageFull);
    await expect(storage.importSite(HERE, data)).rejects.toBeInstanceOf(StorageFull);
    await failWith('55P03'); // lock_not_available
    const refused = await storage.addContent(HERE, aContent('one')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ToolFailure);
    expect((refused as ToolFailure).failure).toMatchObject({ code: 'upstream_unreachable', retryable: true });
    await client.query(`drop trigger fail on ${schema}.heritage_contents`);
    expect(await storage.addContent(HERE, aContent('one'))).toMatchObject({ id: 'one' });
  });

  it.each(['heritage', 'store'])(
    'shares the schema with the store, with the %s created first',
    async (first) => {
      const schema = aSchema(service);
      const settings = {
        store: { kind: 'postgres' as const, url: service.url, schema, prepare: true, listenUrl: null },
      };
      const openStore = async (): Promise<void> => {
        const parts = { digest: nodeDigest, now: () => nodeClock.now(), firstIdAt: firstCallIdAt };
        const store = await postgresStore({ url: service.url, schema, ...parts });
        await store.close();
      };
      if (first === 'store') await openStore();
      const storage = await openHeritageStorage({ ...settings, dataFolder: '/nowhere' });
      onTestFinished(() => storage.close());
      await storage.addContent(HERE, aContent('one'));
      if (first === 'heritage') await openStore();
      expect((await storage.exportSite(HERE))?.contents).toHaveLength(1);
    },
  );

  it('works through a pooler without prepared statements', async () => {
    const pooler = await startPgbouncer(service);
    onTestFinished(() => pooler.stop());
    const schema = aSchema(service);
    const storage = await postgresHeritageStorage({ url: pooler.url, schema, prepare: false });
    onTestFinished(() => storage.close());
    await storage.importSite(HERE, { ...NO_OTHERS, contents: [aContent('one', { title: '古井' })] });
    await Promise.all([1, 2, 3].map((index) => storage.addContent(HERE, aContent(`draft${index}`))));
    expect(await storage.search(HERE, aQuery('井'))).toMatchObject({ total: 1 });
    expect((await storage.exportSite(HERE))?.contents).toHaveLength(4);
  });
});

/** Both storages contain the same items; their searches must find the same ones in the same order. */
describe('search in PostgreSQL and in SQLite', () => {
  const schema = aSchema(service);
  let folder: string;
  let storages: readonly HeritageStorage[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'patchboard-heritage-'));
    storages = [
      sqliteHeritageStorage(join(folder, 'heritage.db')),
      await postgresHeritageStorage({ url: service.url, schema, prepare: true }),
    ];
    const few = { ...NO_OTHERS, contents: generated(400) };
    const many = { ...NO_OTHERS, contents: generated(2600) };
    for (const storage of storages) {
      await storage.importSite({ tenant: 'a', site: 'few' }, few);
      await storage.importSite({ tenant: 'a', site: 'many' }, many);
    }
  });
  afterAll(async () => {
    for (const storage of storages) await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['few', 'many'])('finds the same items in the same order, with %s items', async (site) => {
    const next = numbersFrom(7);
    let hits = 0;
    for (let count = 0; count < 120; count += 1) {
      const text = Array.from({ length: 1 + next(3) }, () => pieceOf(next)).join(next(2) === 0 ? ' ' : '');
      const query = aQuery(text, {
        limit: 1 + next(50),
        ...(next(3) === 0 ? { contentType: `type${next(2)}` } : {}),
        ...(next(3) === 0 ? { tags: ['村', 'well'].slice(next(2)) } : {}),
      });
      const [expected, found] = await Promise.all(
        storages.map((storage) => storage.search({ tenant: 'a', site }, query)),
      );
      expect(
        found?.items.map(({ id }) => id),
        text,
      ).toEqual(expected?.items.map(({ id }) => id));
      expect(found?.total, text).toBe(expected?.total);
      hits += found?.total ?? 0;
    }
    expect(hits).toBeGreaterThan(1000);
  });
});

const PIECES = ['村', '村村', '古井', '井', '家训', '严氏家训', 'well', 'Wells', 'café', 'a1', '旧事', '樟'];

/** A linear congruential generator, so that each run has the same items. Returns whole numbers below the given one. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function pieceOf(next: (below: number) => number): string {
  return PIECES[next(PIECES.length)] ?? '';
}

function generated(count: number): SiteData['contents'] {
  const next = numbersFrom(count);
  const text = (pieces: number): string =>
    Array.from({ length: pieces }, () => pieceOf(next) + (next(2) === 0 ? ' ' : '')).join('');
  return Array.from({ length: count }, (_, index) =>
    aContent(`item${index}`, {
      title: text(1 + next(3)),
      body: text(next(25)),
      summary: next(2) === 0 ? null : text(3),
      tags: next(2) === 0 ? [] : ['村', pieceOf(next)],
      content_type: `type${next(2)}`,
      status: next(10) === 0 ? 'draft' : 'published',
      credibility_score: next(2) === 0 ? null : next(3) / 2,
    }),
  );
}
