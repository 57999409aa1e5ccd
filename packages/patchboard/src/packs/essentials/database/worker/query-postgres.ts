import pg from 'pg';

import { messageOf } from '../../../../core/failures.ts';
import { connectClient } from '../../../../postgres/client.ts';
import { BadDatabaseUrl, connectionOptions } from '../../../../postgres/connection-options.ts';
import { canReadStore } from '../../../../postgres/own-store.ts';
import { sqlState } from '../../../../postgres/sql-errors.ts';
import { parameterTypes, parserOf } from './postgres-types.ts';
import { isList, type QueryOutcome, type QueryRequest, type QuerySource, type Scalar } from './protocol.ts';
import { RowCollector } from './row-collector.ts';

const ROWS_PER_FETCH = 50;
const SELECT_ONLY = 'configure a role that may only SELECT';

type PostgresSource = Extract<QuerySource, { kind: 'postgres' }>;

interface DatabaseFacts {
  /** The role can access files and programs of the server; a superuser can. */
  readonly powerful: boolean;
  /** The id of the element type by the id of the array type. */
  readonly arrays: Readonly<Record<number, number>>;
}

const FACTS = `select exists (
  select from pg_catalog.pg_roles
  where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    and pg_has_role(current_user, oid, 'member')
) as powerful, (
  select json_object_agg(typarray, oid::int8) from pg_catalog.pg_type where typarray <> 0
) as arrays`;

/** Opens a connection for a single query, so that no session state is shared between callers. */
export async function queryPostgres(
  { url, ownStore }: PostgresSource,
  request: QueryRequest,
): Promise<QueryOutcome> {
  const params = request.params;
  if (!isList(params)) return { kind: 'refused', why: { code: 'sql_params_postgres', params: {} } };
  let client: pg.Client | undefined;
  try {
    client = await connectClient(connectionOptions(url), 'database.query');
    // Before each query: a privilege may be granted later.
    if (ownStore !== null && (await canReadStore(client, ownStore))) return { kind: 'forbidden' };
    const facts = await client.query<DatabaseFacts>(FACTS);
    const { powerful = true, arrays = {} } = facts.rows[0] ?? {};
    await begin(client, powerful, request.budgetMs);
    return await readRows(client, params, request, arrays);
  } catch (error) {
    return outcomeOf(error);
  } finally {
    // Closing without a commit rolls back, and stops a statement that has more rows.
    await client?.end();
  }
}

/** Sets a statement timeout in the server, which does not notice a killed client while it computes. */
async function begin(client: pg.Client, powerful: boolean, budgetMs: number): Promise<void> {
  const timeout = Math.max(1, Math.floor(budgetMs));
  await client.query(
    `BEGIN TRANSACTION READ ONLY; SET LOCAL standard_conforming_strings = on; SET LOCAL statement_timeout = ${timeout}`,
  );
  if (!powerful) return;
  try {
    await client.query('SET LOCAL ROLE pg_read_all_data');
  } catch {
    throw new PowerfulRole();
  }
}

/** In the extended protocol, which a row limit per fetch selects, the server refuses a second statement. */
function readRows(
  client: pg.Client,
  params: readonly Scalar[],
  request: QueryRequest,
  arrays: DatabaseFacts['arrays'],
): Promise<QueryOutcome> {
  // The driver takes the ids of the parameter types and the parsers of the result in one option.
  const types = Object.assign(parameterTypes(params), {
    getTypeParser: (id: number) => parserOf(id, arrays),
  });
  const config = { text: request.sql, values: [...params], rowMode: 'array', rows: ROWS_PER_FETCH, types };
  const query = new pg.Query<unknown[]>(config as pg.QueryConfig);
  const collector = new RowCollector(request.limits);
  return new Promise((resolve, reject) => {
    const finish = (result: pg.QueryResultBase | undefined): void =>
      resolve(collector.result(result?.fields.map(({ name }) => name) ?? []));
    let isFull = false;
    query.on('row', (row, result) => {
      if (isFull || collector.add(row)) return;
      isFull = true;
      finish(result);
    });
    query.on('end', finish);
    query.on('error', reject);
    client.query(query);
  });
}

class PowerfulRole extends Error {}

function outcomeOf(error: unknown): QueryOutcome {
  if (error instanceof PowerfulRole) {
    return { kind: 'refused', why: { code: 'database_role_too_powerful', params: { advice: SELECT_ONLY } } };
  }
  if (error instanceof BadDatabaseUrl)
    return { kind: 'unreachable', message: `the database URL ${error.message}` };
  const message = messageOf(error);
  const state = sqlState(error);
  if (state === null) return { kind: 'unreachable', message };
  if (REFUSALS.has(state)) return { kind: 'refused', why: { code: 'text', params: { text: message } } };
  return { kind: isUnavailable(state) ? 'unreachable' : 'failed', message };
}

/** SQLSTATE of a write in a read-only transaction, and of a missing privilege. */
const REFUSALS: ReadonlySet<string> = new Set(['25006', '42501']);

/** Classes 08 (connection), 53 (resources) and 57P (shutdown) are temporary. */
function isUnavailable(code: string): boolean {
  return code.startsWith('08') || code.startsWith('53') || code.startsWith('57P');
}
