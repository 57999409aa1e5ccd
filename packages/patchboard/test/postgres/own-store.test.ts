import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { canReadStore, type OwnStore } from '../../src/postgres/own-store.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../services/shared-postgres.ts';
import { withClient } from '../services/with-client.ts';

const ROLES = ['owner', 'member', 'reader', 'user_of_schema', 'outsider'] as const;
let service: SharedPostgres;
let own: OwnStore;

/** Roles belong to the whole server, so their names contain that of the schema. */
const roleOf = (name: string): string => `${own.schema}_${name}`;

async function makeStore(client: pg.Client, storeId: string): Promise<void> {
  await client.query(`create schema ${own.schema}; create table ${own.schema}.meta (store_id text)`);
  await client.query(`insert into ${own.schema}.meta values ($1)`, [storeId]);
}

beforeAll(async () => {
  service = await sharedPostgres(15);
  own = { schema: aSchema(service), storeId: 'store-1' };
  await withClient(service.url, async (client) => {
    for (const role of ROLES) await client.query(`create role ${roleOf(role)} login`);
    await makeStore(client, own.storeId);
    await client.query(`alter schema ${own.schema} owner to ${roleOf('owner')}`);
    await client.query(`alter table ${own.schema}.meta owner to ${roleOf('owner')}`);
    await client.query(`alter role ${roleOf('member')} noinherit`);
    await client.query(`grant ${roleOf('owner')} to ${roleOf('member')}`);
    await client.query(`grant pg_read_all_data to ${roleOf('reader')}`);
    await client.query(`grant usage on schema ${own.schema} to ${roleOf('user_of_schema')}`);
  });
  return async () => {
    await withClient(service.url, async (client) => {
      for (const role of ROLES) {
        await client.query(`drop owned by ${roleOf(role)} cascade`);
        await client.query(`drop role ${roleOf(role)}`);
      }
    });
  };
});

describe("the server's own store", () => {
  it.each([
    ['owner', true],
    ['member', true],
    ['reader', true],
    ['user_of_schema', true],
    ['outsider', false],
  ] as const)('is readable for %s: %s', async (role, expected) => {
    const url = service.urlFor(roleOf(role), 'postgres');
    expect(await withClient(url, (client) => canReadStore(client, own))).toBe(expected);
  });

  it('is readable for a superuser, also where it has another name', async () => {
    expect(await withClient(service.url, (client) => canReadStore(client, own))).toBe(true);
    const url = service.url.replace('127.0.0.1', 'localhost');
    expect(await withClient(url, (client) => canReadStore(client, own))).toBe(true);
  });

  it('is not another store, nor a schema of the same name with other tables, nor a missing one', async () => {
    const other = { ...own, storeId: 'store-2' };
    expect(await withClient(service.url, (client) => canReadStore(client, other))).toBe(false);
    const missing = { ...own, schema: `${own.schema}_none` };
    expect(await withClient(service.url, (client) => canReadStore(client, missing))).toBe(false);
    await withClient(service.url, async (client) => {
      const empty = aSchema(service);
      await client.query(`create schema ${empty}`);
      expect(await canReadStore(client, { ...own, schema: empty })).toBe(false);
    });
  });
});
