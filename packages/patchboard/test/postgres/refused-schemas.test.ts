import type pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../src/core/ports.ts';
import { firstCallIdAt } from '../../src/runtime/ids.ts';
import { SCHEMA_VERSION } from '../../src/store/postgres/migrations.ts';
import { postgresStore, readPostgresStore } from '../../src/store/postgres/open.ts';
import { aCall, aRecord, completed, insertAll, rowsOf, START } from '../../src/store/samples.contract.ts';
import { startPgbouncer } from '../services/pgbouncer.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { aPostgresStore, aSession, storeOptions, verifiedRows } from './support/a-postgres-store.ts';

const service = await sharedPostgres(15);

interface Scene {
  readonly schema: string;
  readonly admin: pg.Client;
  /** The message of the refusal, of a server and of an inspection, without the URL. */
  readonly refusal: (url?: string) => Promise<string>;
}

async function aScene(): Promise<Scene> {
  const schema = aSchema(service);
  const admin = await aSession(service.url);
  const refusal = async (url: string = service.url): Promise<string> => {
    const before = await contentOf(admin, schema);
    const { message } = await postgresStore(storeOptions(url, { schema })).then(
      async (store) => {
        await store.close();
        throw new Error('the store was opened');
      },
      (error: Error) => error,
    );
    expect(await contentOf(admin, schema)).toEqual(before);
    expect(message).not.toMatch(/\n/);
    return message.replace(/^postgres:\S+ /, '').replaceAll(schema, 'S');
  };
  return { schema, admin, refusal };
}

/** The catalogue entries of the schema, and the rows of its tables. */
async function contentOf(admin: pg.Client, schema: string): Promise<unknown> {
  const { rows: catalogue } = await admin.query<{ kind: string; name: string }>(
    `select c.relkind as kind, c.relname as name, c.relacl::text as acl, a.attname, a.atttypid::int, a.attnotnull
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where relnamespace = to_regnamespace($1) order by c.relname, a.attnum`,
    [schema],
  );
  const tables = new Set(catalogue.flatMap(({ kind, name }) => (kind === 'r' ? [name] : [])));
  const rows: unknown[] = [];
  for (const name of tables)
    rows.push((await admin.query(`select t::text from ${schema}."${name}" t order by 1`)).rows);
  return { catalogue, rows };
}

/** A role that can log in, with the privileges that the statements give it. */
async function aRole({ admin, schema }: Scene, ...grants: readonly string[]): Promise<string> {
  const role = `role_${schema}`;
  await admin.query([`create role ${role} login`, ...grants.map((one) => `${one} to ${role}`)].join('; '));
  onTestFinished(async () => {
    const session = await aSession(service.url);
    await session.query(`drop owned by ${role}; drop role ${role}`);
  });
  return role;
}

/** Creates the schema, with partitions of that time. */
async function create({ schema }: Scene, now: () => number = Date.now): Promise<void> {
  await (await postgresStore(storeOptions(service.url, { schema, now }))).close();
}

describe('a role', () => {
  it('that may not create the schema gets the statement for the owner', async () => {
    const scene = await aScene();
    const role = await aRole(scene);
    expect(await scene.refusal(service.urlFor(role, 'postgres'))).toBe(
      'has no schema S, and the role role_S may not create it; let the owner of the database run: create schema S authorization role_S',
    );
    await scene.admin.query(
      `create schema ${scene.schema}; grant usage on schema ${scene.schema} to ${role}`,
    );
    expect(await scene.refusal(service.urlFor(role, 'postgres'))).toMatch(
      /^has a schema S in which the role role_S may not create tables; .*grant usage, create on schema S to role_S$/,
    );
  });

  it('that may only read and write rows is enough, also without update and delete on the ledger', async () => {
    const scene = await aScene();
    const { schema } = scene;
    await create(scene, () => START);
    const all = `on all tables in schema ${schema}`;
    const role = await aRole(
      scene,
      `grant usage on schema ${schema}`,
      `grant select, insert, update, delete ${all}`,
    );
    await scene.admin.query(`revoke update, delete on ${schema}.ledger from ${role}`);
    const warnings: unknown[] = [];
    const none = (): void => undefined;
    const log: Log = { info: none, error: none, warn: (...given) => warnings.push(given) };
    const store = await aPostgresStore(service.urlFor(role, 'postgres'), {
      schema,
      log,
    });
    const call = aCall(1, { id: firstCallIdAt(START + 1) });
    await store.insertCall(aRecord(call, { scope: 'k', bodyHash: 'b', expiresAt: 9e12 }));
    await store.replaceCall(completed(call), 1, rowsOf(completed(call), 1));
    expect(await verifiedRows(store)).toBe(3);
    // Not by dropping the month: that needs the owner of the table.
    expect(await store.purgeCalls(Date.now(), 10)).toBe(1);
    // Of the present month, which the role may not make.
    expect(warnings).toEqual([
      ['store.partitions_failed', { error: expect.stringMatching(/must be owner|permission denied/) }],
    ]);
  });

  it('that lacks a privilege is told which, and the statement that gives it', async () => {
    const scene = await aScene();
    const { schema, admin, refusal } = scene;
    await create(scene);
    const role = await aRole(scene);
    const url = service.urlFor(role, 'postgres');
    expect(await refusal(url)).toBe(
      'does not give the role role_S the privilege usage on schema S and 1 more; let the owner run: grant usage on schema S to role_S; grant select on S.meta to role_S',
    );
    await admin.query(
      `grant usage on schema ${schema} to ${role}; grant select on ${schema}.meta to ${role}`,
    );
    expect(await refusal(url)).toMatch(
      /^does not give the role role_S the privilege select on S.writers and \d+ more; let the owner run: grant select, insert, update, delete on all tables in schema S to role_S$/,
    );
    await admin.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${role};
      revoke insert on ${schema}.calls from ${role}`);
    expect(await refusal(url)).toBe(
      'does not give the role role_S the privilege insert on S.calls; let the owner run: grant insert on S.calls to role_S',
    );
    // An inspection needs no more than this.
    const inspection = await readPostgresStore(storeOptions(url, { schema }));
    expect(await inspection.ledgerHead()).toMatchObject({ seq: 0 });
    await inspection.close();
  });
});

describe('a schema', () => {
  it('of a newer version, without a table, or of another program is refused and not changed', async () => {
    const scene = await aScene();
    const { schema, admin, refusal } = scene;
    await create(scene);
    await admin.query(`update ${schema}.meta set version = 9, min_reader = 9`);
    expect(await refusal()).toMatch(/^was written by a newer Patchboard \(schema version 9\); .*update it$/);
    await admin.query(
      `update ${schema}.meta set version = ${SCHEMA_VERSION}, min_reader = 1; drop table ${schema}.journals`,
    );
    expect(await refusal()).toMatch(/^has a damaged schema S: without the table journals; restore it/);
    await admin.query(`drop schema ${schema} cascade; create schema ${schema};
      create table ${schema}.meta (version int, name text); insert into ${schema}.meta values (1, 'x')`);
    expect(await refusal()).toMatch(/^has a schema S with 1 tables of another program; name another schema/);
    await admin.query(`drop table ${schema}.meta; create table ${schema}.users (id int)`);
    expect(await refusal()).toMatch(/^has a schema S with 1 tables of another program; name another schema/);
  });

  it('that two servers create at the same moment has one owner; the other is refused as a second one', async () => {
    const schema = aSchema(service);
    const opened = await Promise.allSettled([1, 2].map(() => aPostgresStore(service.url, { schema })));
    expect(opened.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const one of opened) {
      if (one.status === 'fulfilled') await insertAll(one.value, [aCall(1)]);
      else
        expect(one.reason).toMatchObject({ name: 'StoreInUse', message: expect.stringMatching(/^[^\n]+$/) });
    }
  });

  it('behind a pooler that loses prepared statements is refused with the setting to change', async () => {
    const scene = await aScene();
    const pooler = await startPgbouncer(service, { poolSize: 4 });
    onTestFinished(() => pooler.stop());
    expect(await scene.refusal(pooler.url)).toBe(
      'is behind a pooler that does not keep prepared statements; set store.prepare to false, or max_prepared_statements in PgBouncer 1.21 or newer',
    );
    const store = await aPostgresStore(pooler.url, { schema: scene.schema, prepare: false });
    await insertAll(store, [aCall(1), aCall(2)]);
    expect(await verifiedRows(store)).toBe(2);
  });
});
