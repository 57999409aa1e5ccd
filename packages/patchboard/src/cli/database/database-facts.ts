import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { Connection, type Queryable } from '../../postgres/connection.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { keepsPreparedStatements } from '../../postgres/prepared-statements.ts';
import { streamOf } from '../../postgres/reconnecting-client.ts';
import type { DatabaseLocation } from '../store-location.ts';

/** What `doctor` finds out about a database. */
export interface DatabaseFacts {
  /** As `server_version_num`: 150012 is 15.12. */
  readonly version: number;
  /** As `show server_version` returns it. */
  readonly versionText: string;
  readonly roundTripsMs: readonly number[];
  /** The values at the start of a session, by name. */
  readonly durability: Readonly<Record<string, string>>;
  readonly role: RoleFacts;
  readonly isPooled: boolean;
  /** Null without a pooler. */
  readonly keepsPreparedStatements: boolean | null;
  /** The time of the database minus that of this machine. */
  readonly clockOffsetMs: number;
  readonly isEncrypted: boolean;
  readonly isRemote: boolean;
}

export interface RoleFacts {
  readonly role: string;
  readonly isReadOnly: boolean;
  readonly schemaExists: boolean;
  /** Version of the schema; null if it has none. */
  readonly schemaVersion: number | null;
  /** Whether the role may create the schema, or change its tables. */
  readonly canMigrate: boolean;
  /** Tables that the role may not read or write; null if there is no schema. */
  readonly notWritable: readonly string[] | null;
  /** Rights to change rows of the ledger. */
  readonly ledgerRights: readonly string[];
}

const ROUND_TRIPS = 11;
const CONNECT_MS = 5000;

/** Connects and reads the facts. Changes nothing. Rejects with the reason if the database cannot be reached. */
export async function databaseFacts(location: DatabaseLocation): Promise<DatabaseFacts> {
  const options = connectionOptions(location.url);
  const connections = ['doctor', 'doctor 2'].map((name) => new Connection({ options, name, prepare: true }));
  const [first, second] = connections as [Connection, Connection];
  try {
    await first.open(CONNECT_MS);
    const client = await first.client();
    const facts = {
      ...(await serverFacts(client)),
      role: await roleFacts(plain(client), location.schema),
      isPooled: first.isPooled,
      isEncrypted: streamOf(client) instanceof TLSSocket,
      isRemote: !options.host.startsWith('/') && !/^(localhost|127\.|::1$)/.test(options.host),
    };
    if (!first.isPooled) return { ...facts, keepsPreparedStatements: null };
    return { ...facts, keepsPreparedStatements: await keepsPreparedStatements(first, second) };
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

async function serverFacts(
  client: pg.Client,
): Promise<Pick<DatabaseFacts, 'version' | 'versionText' | 'roundTripsMs' | 'durability' | 'clockOffsetMs'>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select name, reset_val as value from pg_settings where name in
      ('server_version_num', 'server_version', 'fsync', 'full_page_writes', 'synchronous_commit')`,
  );
  const {
    server_version_num: version,
    server_version: versionText,
    ...durability
  } = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const roundTripsMs: number[] = [];
  let clockOffsetMs = 0;
  let shortest = Infinity;
  for (let turn = 0; turn < ROUND_TRIPS; turn += 1) {
    const began = performance.now();
    const sent = Date.now();
    const clock = await client.query<{ ms: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
    );
    const took = performance.now() - began;
    roundTripsMs.push(took);
    if (took >= shortest) continue;
    // The shortest exchange has the smallest error.
    shortest = took;
    clockOffsetMs = (clock.rows[0]?.ms ?? sent) - (sent + took / 2);
  }
  return {
    version: Number(version),
    versionText: versionText ?? '',
    roundTripsMs,
    durability,
    clockOffsetMs,
  };
}

async function roleFacts(queryable: Queryable, schema: string): Promise<RoleFacts> {
  const found = await queryable.query<
    Omit<RoleFacts, 'schemaVersion' | 'notWritable' | 'ledgerRights'> & { has_meta: boolean }
  >({ name: '', text: ROLE_SQL }, [schema]);
  const [row] = found.rows;
  if (row === undefined) throw new Error('the catalogue returned no row');
  const { has_meta: hasMeta, ...role } = row;
  if (!hasMeta) return { ...role, schemaVersion: null, notWritable: null, ledgerRights: [] };
  const tables = await queryable.query<{ table: string; writable: boolean; rights: string[] }>(
    { name: '', text: TABLES_SQL },
    [schema],
  );
  const notWritable = tables.rows.filter(({ writable }) => !writable).map(({ table }) => table);
  const ledgerRights = tables.rows.find(({ table }) => table === 'ledger')?.rights ?? [];
  const mayRead = !notWritable.includes('meta');
  const version = mayRead
    ? await queryable.query<{ version: number }>({ name: '', text: `select version from "${schema}".meta` })
    : { rows: [] };
  return { ...role, schemaVersion: version.rows[0]?.version ?? null, notWritable, ledgerRights };
}

const ROLE_SQL = `select current_user::text as role, current_setting('transaction_read_only') = 'on' as "isReadOnly",
  n.oid is not null as "schemaExists", m.oid is not null as has_meta,
  case when n.oid is null then has_database_privilege(current_database(), 'create')
    when m.oid is null then has_schema_privilege(n.oid, 'create')
    else has_schema_privilege(n.oid, 'create') and pg_has_role(m.relowner, 'usage') end as "canMigrate"
  from (select $1::text as schema) given left join pg_namespace n on n.nspname = given.schema
  left join pg_class m on m.relnamespace = n.oid and m.relname = 'meta'`;

const TABLES_SQL = `select c.relname::text as table,
  has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
    and (c.relname = 'meta' or has_table_privilege(c.oid, 'insert')) as writable,
  array_remove(array[case when has_table_privilege(c.oid, 'update') then 'update' end,
    case when has_table_privilege(c.oid, 'delete') then 'delete' end,
    case when has_table_privilege(c.oid, 'truncate') then 'truncate' end], null) as rights
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition order by 1`;

/** Statements that are not prepared, so that they work with every pooler. */
function plain(client: pg.Client): Queryable {
  return {
    query: async <Row extends object>(
      { text }: { readonly text: string },
      values: readonly unknown[] = [],
    ) => {
      const { rows, rowCount } = await client.query<Row>(text, [...values]);
      return { rows, count: rowCount ?? 0 };
    },
  };
}
