import { messageOf } from '../../core/failures.ts';
import type { Connection, Transaction } from '../../postgres/connection.ts';
import { isPrivilegeMissing, isReadOnly, isTableMissing, sqlState } from '../../postgres/sql-errors.ts';
import { StoreRefused } from '../store-refused.ts';
import { firstSchema, tablesIn } from './schema.ts';

/** The version of the schema that this build writes. */
export const SCHEMA_VERSION = 1;
/** The oldest version of this program that can use a schema of `SCHEMA_VERSION`. */
const MIN_READER = 1;

/** The statements that lead to version 1, 2, … A released entry is never changed. */
const MIGRATIONS: readonly ((schema: string) => string)[] = [firstSchema];

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
  readonly has_meta: boolean;
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
    const version = await versionOf(connection, parts);
    if (version >= SCHEMA_VERSION) return;
    throw new StoreRefused(shown, `has a schema of version ${version}`, 'start a server to bring it forward');
  } catch (error) {
    if (isTableMissing(error))
      throw new StoreRefused(
        shown,
        `has no schema ${schema}`,
        'start a server to create it, or name another',
      );
    throw refusalOf(error, parts);
  }
}

async function migrateIn(transaction: Transaction, parts: SchemaParts): Promise<void> {
  const { schema, shown, storeId } = parts;
  await transaction.query({ name: 'lock_schema', text: 'select pg_advisory_xact_lock(hashtext($1))' }, [
    schema,
  ]);
  const found = await find(transaction, schema);
  if (!found.has_meta && found.tables > 0)
    throw new StoreRefused(
      shown,
      `has a schema ${schema} with ${found.tables} tables of another program`,
      'name another schema with store.schema, or another database',
    );
  if (!found.exists) await transaction.run(`create schema "${schema}"`);
  const version = found.has_meta ? await versionOf(transaction, parts) : 0;
  for (const migration of MIGRATIONS.slice(version)) await transaction.run(migration(schema));
  if (version >= SCHEMA_VERSION) return;
  const { meta } = tablesIn(schema);
  const text = `insert into ${meta} (one, version, min_reader, store_id) values (1, $1, $2, $3)
    on conflict (one) do update set version = excluded.version, min_reader = excluded.min_reader`;
  await transaction.query({ name: 'set_version', text }, [SCHEMA_VERSION, MIN_READER, storeId]);
}

/** The tables of the heritage data may be created before those of the store. */
async function find(transaction: Transaction, schema: string): Promise<Found> {
  const text = `select to_regnamespace($1) is not null as exists, to_regclass($2) is not null as has_meta,
    (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm', 'f')
        and c.relname not like 'heritage\\_%') as tables, current_user::text as role`;
  const { rows } = await transaction.query<Found>({ name: 'find_schema', text }, [
    schema,
    `"${schema}".meta`,
  ]);
  const [found] = rows;
  if (found === undefined) throw new Error('the catalogue returned no row');
  return found;
}

/** Returns the version of the schema. Throws `StoreRefused` if this program is too old for it. */
async function versionOf(
  queryable: Pick<Transaction, 'query'>,
  { schema, shown }: SchemaParts,
): Promise<number> {
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

const UNDEFINED_COLUMN = '42703';

/** Converts an error of opening the schema to one for the operator. */
export function refusalOf(error: unknown, { schema, shown }: Pick<SchemaParts, 'schema' | 'shown'>): unknown {
  if (isPrivilegeMissing(error))
    return new StoreRefused(
      shown,
      `does not give the role enough rights (${messageOf(error)})`,
      `let the owner of the database run: create schema if not exists ${schema} authorization ROLE, or start the server once with a URL of that owner`,
    );
  if (isReadOnly(error))
    return new StoreRefused(shown, 'is read-only, such as a standby', 'name the primary server in the URL');
  if (sqlState(error) === UNDEFINED_COLUMN)
    return new StoreRefused(
      shown,
      `has a schema ${schema} of another program`,
      'name another schema with store.schema, or another database',
    );
  return error;
}
