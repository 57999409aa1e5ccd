import { isTableMissing } from './sql-errors.ts';

/** The store of this server, which no tool may read. */
export interface OwnStore {
  readonly schema: string;
  /** `meta.store_id`: a database that another name, address or pooler leads to is still recognised. */
  readonly storeId: string;
}

/** A connection outside of a transaction. */
export interface PlainQueryable {
  query<Row extends object>(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Row[] }>;
}

/**
 * Counts memberships too, inherited or not: a statement can change its role with `set_config('role', …)`. A superuser is a
 * member of every role.
 */
const MAY_USE_SCHEMA = `select exists (
  select from pg_catalog.pg_roles as role
  where pg_has_role(current_user, role.oid, 'member')
    and has_schema_privilege(role.oid, schema.oid, 'usage')
) as allowed from pg_catalog.pg_namespace as schema where nspname = $1`;

/** Reads the identity of a store. */
export async function ownStoreIn(connection: PlainQueryable, schema: string): Promise<OwnStore> {
  const { rows } = await connection.query<{ id: string }>(`select store_id as id from "${schema}".meta`);
  if (rows[0] === undefined) throw new Error(`the table ${schema}.meta is empty`);
  return { schema, storeId: rows[0].id };
}

/** Whether the role of the connection can read the store. */
export async function canReadStore(connection: PlainQueryable, own: OwnStore): Promise<boolean> {
  const { rows } = await connection.query<{ allowed: boolean }>(MAY_USE_SCHEMA, [own.schema]);
  if (rows[0]?.allowed !== true) return false;
  try {
    return (await ownStoreIn(connection, own.schema)).storeId === own.storeId;
  } catch (error) {
    // A role that may not read this table is refused: the store may be the server's own.
    return !isTableMissing(error);
  }
}
