import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { isCommit, nth, startProxy } from './proxy.ts';
import type { PostgresProxy } from './proxy.ts';
import { aSchema, sharedPostgres } from './shared-postgres.ts';

const service = await sharedPostgres(15);
const schema = aSchema(service);
let proxy: PostgresProxy;
let direct: pg.Client;

beforeAll(async () => {
  proxy = await startProxy(service);
  direct = new pg.Client(service.url);
  await direct.connect();
  await direct.query(`create schema ${schema} create table t (a int)`);
});
beforeEach(async () => {
  proxy.pass();
  await direct.query(`truncate ${schema}.t`);
});
afterAll(async () => {
  await proxy.close();
  await direct.end();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(proxy.through(service.url));
  client.on('error', () => undefined); // the connection is cut on purpose
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

async function count(): Promise<number | null> {
  return (await direct.query(`select a from ${schema}.t`)).rowCount;
}

const insert = `insert into ${schema}.t values (1)`;
const forms: readonly (readonly [string, string | pg.QueryConfig])[] = [
  ['a simple query', 'commit'],
  ['a prepared statement', { name: 'end', text: 'commit', values: [] }],
];

describe('a proxy in front of PostgreSQL', () => {
  it('forwards, and resets connections on command', async () => {
    const client = await connect();
    await client.query(insert);
    const failed = expect(client.query('select pg_sleep(600)')).rejects.toThrow(/ECONNRESET|terminated/);
    proxy.cut();
    await failed;
    expect(await count()).toBe(1);
    await connect();
    proxy.refuse();
    await expect(connect()).rejects.toThrow();
    proxy.pass();
    await connect();
  });

  it('discards what both sides send while it is frozen, and then resets those connections', async () => {
    const client = await connect();
    proxy.freeze();
    const failed = expect(client.query(insert)).rejects.toThrow(/ECONNRESET|terminated/);
    const unanswered = new pg.Client({
      connectionString: proxy.through(service.url),
      connectionTimeoutMillis: 50,
    });
    await expect(unanswered.connect()).rejects.toThrow('timeout');
    proxy.pass();
    await failed;
    expect(await count()).toBe(0);
  });

  it.each(forms)('cuts before a commit arrives, as %s', async (_form, commit) => {
    const client = await connect();
    await client.query('begin');
    await client.query(insert);
    const cut = proxy.cutAt('request', isCommit);
    await expect(client.query(commit)).rejects.toThrow();
    await cut;
    expect(await count()).toBe(0);
  });

  it.each(forms)('cuts after a commit, before its reply arrives, as %s', async (_form, commit) => {
    const client = await connect();
    await client.query('begin');
    await client.query(insert);
    const cut = proxy.cutAt('reply', isCommit);
    await expect(client.query(commit)).rejects.toThrow();
    await cut;
    expect(await count()).toBe(1);
  });

  it('swallows replies from the nth message on', async () => {
    const client = await connect();
    const swallowing = proxy.swallowFrom('reply', nth(2, 'C'));
    await client.query(insert);
    let isSettled = false;
    const second = client.query(insert).finally(() => (isSettled = true));
    second.catch(() => undefined);
    await swallowing;
    expect(await count()).toBe(2);
    expect(isSettled).toBe(false);
    proxy.cut();
    await expect(second).rejects.toThrow();
  });
});
