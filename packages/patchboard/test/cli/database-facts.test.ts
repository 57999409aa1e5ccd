import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { databaseFacts, type DatabaseFacts } from '../../src/cli/database/database-facts.ts';
import { databaseFindings } from '../../src/cli/database/database-findings.ts';
import { databaseAt } from '../../src/cli/store-location.ts';
import { SCHEMA_VERSION } from '../../src/store/postgres/migrations.ts';
import { postgresStore } from '../../src/store/postgres/open.ts';
import { storeOptions } from '../postgres/support/a-postgres-store.ts';
import { startPgbouncer } from '../services/pgbouncer.ts';
import { startPostgres } from '../services/postgres.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { queryOnce } from '../services/with-client.ts';

async function facts(url: string, schema: string): Promise<DatabaseFacts> {
  return await databaseFacts(databaseAt(url, 'the test', schema));
}

describe('the facts of a database', () => {
  it('of a test server: not durable, direct, without a schema and with one', async () => {
    const service = await sharedPostgres(15);
    const schema = aSchema(service);
    const fresh = await facts(service.url, schema);
    expect(fresh).toMatchObject({
      durability: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'on' },
      role: {
        role: 'postgres',
        schemaExists: false,
        schemaVersion: null,
        canMigrate: true,
        notWritable: null,
      },
      isPooled: false,
      keepsPreparedStatements: null,
      isEncrypted: false,
      isRemote: false,
    });
    expect(Math.floor(fresh.version / 10_000)).toBe(15);
    expect(fresh.roundTripsMs.length).toBeGreaterThan(4);
    expect(Math.abs(fresh.clockOffsetMs)).toBeLessThan(1000);
    const store = await postgresStore(storeOptions(service.url, { schema }));
    await store.close();
    const { role } = await facts(service.url, schema);
    expect(role).toMatchObject({ schemaVersion: SCHEMA_VERSION, canMigrate: true, notWritable: [] });
    expect(role.ledgerRights).toEqual(['update', 'delete', 'truncate']);
  });

  it('of a plain role: what it may and may not', async () => {
    const service = await sharedPostgres(15);
    const schema = aSchema(service);
    const role = `${schema}_plain`;
    await queryOnce(service.url, `create role ${role} login`);
    onTestFinished(
      async () => void (await queryOnce(service.url, `drop owned by ${role}; drop role ${role}`)),
    );
    const url = service.urlFor(role, 'postgres');
    expect((await facts(url, schema)).role).toMatchObject({ role, canMigrate: false });
    const store = await postgresStore(storeOptions(service.url, { schema }));
    await store.close();
    const without = (await facts(url, schema)).role;
    expect(without.notWritable).toContain('calls');
    await queryOnce(
      service.url,
      `grant usage on schema ${schema} to ${role};
       grant select, insert, update, delete on all tables in schema ${schema} to ${role};
       revoke update, delete on ${schema}.ledger from ${role}`,
    );
    const granted = await facts(url, schema);
    expect(granted.role).toMatchObject({
      schemaVersion: SCHEMA_VERSION,
      canMigrate: false,
      notWritable: [],
      ledgerRights: [],
    });
    const findings = databaseFindings(granted, { schema, prepare: true }).filter(
      ({ check }) => check === 'privileges',
    );
    expect(findings).toEqual([
      expect.objectContaining({ ok: true, detail: expect.stringContaining('but not migrate') as string }),
    ]);
  });

  it('behind a pooler: whether prepared statements survive', async () => {
    const service = await sharedPostgres(15);
    const pooler = await startPgbouncer(service);
    onTestFinished(() => pooler.stop());
    const found = await facts(pooler.url, aSchema(service));
    expect(found.isPooled).toBe(true);
    // Debian's PgBouncer is 1.18, which knows nothing of prepared statements; since 1.21 it keeps them.
    expect(typeof found.keepsPreparedStatements).toBe('boolean');
    const client = new pg.Client({ connectionString: pooler.url });
    const other = new pg.Client({ connectionString: pooler.url });
    await Promise.all([client.connect(), other.connect()]);
    await client.query({ name: 'seen', text: 'select 1' });
    await other.query('begin');
    const again = client.query({ name: 'seen', text: 'select 1' });
    await expect(
      again.then(
        () => true,
        () => false,
      ),
    ).resolves.toBe(found.keepsPreparedStatements);
    await Promise.all([client.end(), other.end()]);
  });

  it('of a server with TLS: encrypted', async () => {
    const service = await startPostgres({ tls: true, settings: { synchronous_commit: 'off' } });
    onTestFinished(() => service.close());
    const found = await facts(`${service.url}?sslmode=require`, 'patchboard');
    expect(found).toMatchObject({ isEncrypted: true, durability: { synchronous_commit: 'off' } });
  });

  it('are not known of a server that cannot be reached', async () => {
    await expect(facts('postgres://x@127.0.0.1:9/x', 'patchboard')).rejects.toThrow('ECONNREFUSED');
  });
});
