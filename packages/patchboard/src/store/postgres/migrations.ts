import { messageOf } from '../../core/failures.ts';
import { lockSchema } from '../../postgres/advisory-locks.ts';
import type { Connection, Transaction } from '../../postgres/connection.ts';
import { isPrivilegeMissing, isReadOnly } from '../../postgres/sql-errors.ts';
import { StoreRefused, StoreUnreachable } from '../store-refused.ts';
import { deviceSchema } from './device-schema.ts';
import { homeSchema } from './home-schema.ts';
import { indexSchema } from './index-schema.ts';
import { revisionSchema } from './revision-schema.ts';
import { firstSchema, tablesIn, type Tables } from './schema.ts';
import { checkTables } from './schema-check.ts';
import { sharedSchema } from './shared-schema.ts';

/** The statements that lead to version 1, 2, … A released entry is never changed. */
export const MIGRATIONS: readonly ((schema: string) => string)[] = [
  firstSchema,
  sharedSchema,
  revisionSchema,
  homeSchema,
  deviceSchema,
  indexSchema,
];

/** The version of the schema that this build writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;
/** The oldest version of this program that can use a schema of `SCHEMA_VERSION`. */
const MIN_READER = 3;

export interface SchemaParts {
  readonly connection: Connection;
  readonly schema: string;
  /** The URL without its password, for messages. */
  readonly shown: string;
  /** Identifies the store for ever; used if the schema is created. */
  readonly storeId: string;
}

interface Found {
  readonly exists: boolean;
  /** It contains the table with the version. */
  readonly is_store: boolean;
  readonly tables: number;
  readonly role: string;
}

/**
 * Creates the schema or brings it forward. Under an advisory lock, so that several processes may start at once. Rejects
 * with `StoreRefused`, without a change, if the schema is newer than this program or contains other tables.
 */
export async function migrate(parts: SchemaParts): Promise<void> {
  try {
    await parts.connection.transaction((transaction) => migrateIn(transaction, parts));
  } catch (error) {
    throw refusalOf(error, parts);
  }
}

/** Rejects with `StoreRefused` unless the schema exists and this program can read it. Changes nothing. */
export async function checkSchema(parts: SchemaParts): Promise<void> {
  const { connection, schema, shown } = parts;
  try {
    const found = await find(connection, schema);
    const version = found.is_store ? await versionOf(connection, parts) : null;
    if (version === null)
      throw found.tables > 0
        ? foreign(found, parts)
        : new StoreRefused(shown, `has no schema ${schema}`, 'start a server to create it, or name another');
    if (version >= SCHEMA_VERSION) return await checkTables(connection, parts, 'read');
    throw new StoreRefused(shown, `has a schema of version ${version}`, 'start a server to bring it forward');
  } catch (error) {
    throw refusalOf(error, parts);
  }
}

async function migrateIn(transaction: Transaction, parts: SchemaParts): Promise<void> {
  const { schema, storeId } = parts;
  await lockSchema(transaction, schema);
  const found = await find(transaction, schema);
  if (!found.is_store && found.tables > 0) throw foreign(found, parts);
  const version = found.is_store ? await versionOf(transaction, parts) : 0;
  if (version >= SCHEMA_VERSION) return await checkTables(transaction, parts, 'write');
  try {
    if (!found.exists) await transaction.run(`create schema "${schema}"`);
    for (const migration of MIGRATIONS.slice(version)) await transaction.run(migration(schema));
  } catch (error) {
    throw isPrivilegeMissing(error) ? mayNotCreate(found, parts) : error;
  }
  const { meta } = tablesIn(schema);
  const text = `insert into ${meta} (one, version, min_reader, store_id) values (1, $1, $2, $3)
    on conflict (one) do update set version = excluded.version, min_reader = excluded.min_reader`;
  await transaction.query({ name: 'set_version', text }, [SCHEMA_VERSION, MIN_READER, storeId]);
}

function foreign({ tables }: Found, { schema, shown }: SchemaParts): StoreRefused {
  return new StoreRefused(
    shown,
    `has a schema ${schema} with ${tables} tables of another program`,
    'name another schema with store.schema, or another database',
  );
}

/** The tables of the heritage data may be created before those of the store. */
async function find(transaction: Pick<Transaction, 'query'>, schema: string): Promise<Found> {
  const text = `with s as (select oid from pg_namespace where nspname = $1),
      t as (select c.oid, relname from pg_class c join s on s.oid = c.relnamespace
        where relkind in ('r', 'p', 'v', 'm', 'f') and relname not like 'heritage\\_%')
    select exists (select from s) as exists, (select count(*)::int from t) as tables,
      (select count(*) = 4 from t join pg_attribute a on a.attrelid = t.oid
        where relname = 'meta' and attname in ('one', 'version', 'min_reader', 'store_id')) as is_store,
      quote_ident(current_user) as role`;
  const { rows } = await transaction.query<Found>({ name: 'find_schema', text }, [schema]);
  const [found] = rows;
  if (found === undefined) throw new Error('the catalogue returned no row');
  return found;
}

/** Returns the version of the schema. Throws `StoreRefused` if this program is too old for it. */
async function versionOf(
  queryable: Pick<Transaction, 'query'>,
  { schema, shown }: SchemaParts,
): Promise<number> {
  await checkTables(queryable, { schema, shown }, 'version');
  const { meta } = tablesIn(schema);
  const text = `select version, min_reader from ${meta} where one = 1`;
  const { rows } = await queryable.query<{ version: number; min_reader: number }>({ name: 'version', text });
  const [row] = rows;
  if (row === undefined)
    throw new StoreRefused(
      shown,
      `has a schema ${schema} without a version: a copy into it was interrupted`,
      'repeat the copy, or drop the schema',
    );
  if (row.min_reader <= SCHEMA_VERSION) return row.version;
  throw new StoreRefused(
    shown,
    `was written by a newer Patchboard (schema version ${row.version})`,
    `this one knows version ${SCHEMA_VERSION}: update it`,
  );
}

/** Returns what identifies the store for ever. */
export async function storeIdIn(
  queryable: Pick<Transaction, 'query'>,
  { meta }: Pick<Tables, 'meta'>,
): Promise<string> {
  const text = `select store_id from ${meta} where one = 1`;
  const { rows } = await queryable.query<{ store_id: string }>({ name: 'store_id', text });
  return rows[0]?.store_id ?? '';
}

function mayNotCreate({ exists, role }: Found, { schema, shown }: SchemaParts): StoreRefused {
  return exists
    ? new StoreRefused(
        shown,
        `has a schema ${schema} in which the role ${role} may not create tables`,
        `let the owner of the schema run: grant usage, create on schema ${schema} to ${role}`,
      )
    : new StoreRefused(
        shown,
        `has no schema ${schema}, and the role ${role} may not create it`,
        `let the owner of the database run: create schema ${schema} authorization ${role}`,
      );
}

/** Converts an error of opening the schema to one for the operator. */
export function refusalOf(error: unknown, { schema, shown }: Pick<SchemaParts, 'schema' | 'shown'>): unknown {
  if (isPrivilegeMissing(error))
    return new StoreRefused(
      shown,
      `does not give the role enough privileges in the schema ${schema} (${messageOf(error)})`,
      'let the owner of the database grant them',
    );
  // During a failover the address may lead to a standby for some time.
  if (isReadOnly(error))
    return new StoreUnreachable(
      shown,
      'is read-only, such as a standby',
      'name the primary server in the URL',
    );
  return error;
}
