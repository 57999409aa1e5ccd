import { lockWriters } from '../../postgres/advisory-locks.ts';
import type { Connection, Queryable, Transaction } from '../../postgres/connection.ts';
import { migrate, type SchemaParts } from '../postgres/migrations.ts';
import { tablesIn, type Tables } from '../postgres/schema.ts';
import { StoreInUse, StoreRefused } from '../store-refused.ts';
import { COPIED_TABLES } from './copied-tables.ts';

/** The row of `meta`. While it is missing, a server refuses the schema. */
export interface SchemaVersion {
  readonly version: number;
  readonly min_reader: number;
  readonly store_id: string;
}

/**
 * Creates the schema, or takes one that holds no data, and removes its version, so that no server uses it until
 * `releaseSchema`. The tables of an interrupted copy are dropped first. Rejects with `StoreRefused`, without a change, if the
 * schema holds data or is in use.
 */
export async function reserveSchema(parts: SchemaParts): Promise<SchemaVersion> {
  const { connection, schema } = parts;
  const tables = tablesIn(schema);
  if (await isInterrupted(connection, tables)) await dropTables(connection, schema, tables);
  await migrate(parts);
  return await connection.transaction(async (transaction) => {
    await lockWriters(transaction, schema);
    await refuseUsed(transaction, parts, tables);
    const { rows } = await transaction.query<SchemaVersion>({
      name: 'reserve_schema',
      text: `delete from ${tables.meta} returning version, min_reader, store_id`,
    });
    const [version] = rows;
    if (version === undefined) throw new Error('the schema has no version');
    return version;
  });
}

/** Lets servers use the schema. */
export async function releaseSchema(
  connection: Connection,
  { meta }: Tables,
  { version, min_reader: minReader, store_id: storeId }: SchemaVersion,
): Promise<void> {
  const text = `insert into ${meta} (one, version, min_reader, store_id) values (1, $1, $2, $3) on conflict do nothing`;
  await connection.query({ name: 'release_schema', text }, [version, minReader, storeId]);
}

async function isInterrupted(connection: Connection, { meta }: Tables): Promise<boolean> {
  const found = await connection.query<{ exists: boolean }>(
    { name: 'find_meta', text: 'select to_regclass($1) is not null as exists' },
    [meta],
  );
  if (found.rows[0]?.exists !== true) return false;
  const { rows } = await connection.query({ name: 'read_meta', text: `select version from ${meta}` });
  return rows.length === 0;
}

async function dropTables(connection: Connection, schema: string, tables: Tables): Promise<void> {
  await connection.transaction(async (transaction) => {
    const others = await heritageTables(transaction, schema);
    await transaction.run(`drop table if exists ${[...Object.values(tables), ...others].join(', ')} cascade`);
    await transaction.run(`drop function if exists "${schema}".refuse_change`);
  });
}

/** The tables of the heritage data, which is copied after the store. */
async function heritageTables(queryable: Queryable, schema: string): Promise<string[]> {
  const text = `select format('%I.%I', n.nspname, c.relname) as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relkind = 'r' and c.relname like 'heritage\\_%'`;
  const { rows } = await queryable.query<{ name: string }>({ name: 'heritage_tables', text }, [schema]);
  return rows.map(({ name }) => name);
}

async function refuseUsed(
  transaction: Transaction,
  { schema, shown }: SchemaParts,
  tables: Tables,
): Promise<void> {
  const { rows: held } = await transaction.query<{ holder: string | null }>({
    name: 'held_by',
    text: `select holder from ${tables.writers} where state = 'held'`,
  });
  if (held[0] !== undefined)
    throw new StoreInUse(
      shown,
      `is in use by a server (${held[0].holder ?? 'unknown'})`,
      'stop that server first',
    );
  const sites = (await heritageTables(transaction, schema)).filter((name) => name.endsWith('sites'));
  const filled = [...COPIED_TABLES.map(({ name }) => tables[name]), tables.ledger, ...sites];
  for (const name of filled) {
    const { rows } = await transaction.query({
      name: `any_${name}`,
      text: `select 1 as found from ${name} limit 1`,
    });
    if (rows.length > 0)
      throw new StoreRefused(
        shown,
        `holds data in its schema ${schema} (${name})`,
        'name an empty database, or another schema with --schema',
      );
  }
}
