import postgres from 'postgres';

import type { QueryOutcome, QueryParams, QueryRequest, Scalar } from './protocol.ts';
import { RowCollector } from './row-collector.ts';

type Connection = postgres.Sql | postgres.ReservedSql;

const CONNECT_TIMEOUT_S = 5;
const ROWS_PER_FETCH = 50;
// In the extended protocol the server refuses a second statement. The driver's types lack the option.
const EXTENDED = { simple: false, prepare: false } as postgres.UnsafeQueryOptions;
const SELECT_ONLY = 'configure a role that may only SELECT';

/** Members of these roles can access files and programs of the server; a superuser is a member of all. */
const POWERFUL_ROLE = `select exists (
  select from pg_roles
  where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    and pg_has_role(current_user, oid, 'member')
) as powerful`;

/** Opens a connection for a single query, so that no session state is shared between callers. */
export async function queryPostgres(url: string, request: QueryRequest): Promise<QueryOutcome> {
  const params = request.params;
  if (!isList(params)) return { kind: 'refused', why: { code: 'sql_params_postgres', params: {} } };
  const sql = postgres(url, {
    max: 1,
    connect_timeout: CONNECT_TIMEOUT_S,
    onnotice: () => undefined,
    types: TYPES,
    connection: { application_name: 'patchboard database.query', standard_conforming_strings: 'on' },
  });
  try {
    // Must come first: `reserve` never resolves on a connection that has not been used.
    const [role] = await sql.unsafe<{ powerful: boolean }[]>(POWERFUL_ROLE);
    const session = await sql.reserve();
    await begin(session, role?.powerful !== false, request.budgetMs);
    return await readRows(session, params, { ...request, cursorEnd: sql.CLOSE });
  } catch (error) {
    return outcomeOf(error);
  } finally {
    // Closing without a commit rolls back.
    await sql.end({ timeout: 0 });
  }
}

/** Sets a statement timeout in the server, which does not notice a killed client while it computes. */
async function begin(session: Connection, powerful: boolean, budgetMs: number): Promise<void> {
  const timeout = Math.max(1, Math.floor(budgetMs));
  await session.unsafe(`BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${timeout}`);
  if (!powerful) return;
  try {
    await session.unsafe('SET LOCAL ROLE pg_read_all_data');
  } catch {
    throw new PowerfulRole();
  }
}

async function readRows(
  session: Connection,
  params: readonly Scalar[],
  // A reserved connection has no `CLOSE`, in spite of its type, so it is passed in.
  { cursorEnd, ...request }: QueryRequest & { cursorEnd: postgres.Sql['CLOSE'] },
): Promise<QueryOutcome> {
  const statement = (): postgres.PendingQuery<postgres.Row[]> =>
    session.unsafe(request.sql, [...params], EXTENDED);
  const { columns } = await statement().describe();
  const collector = new RowCollector(request.limits);
  if (request.keyword === 'EXPLAIN') {
    // Without a cursor, which would drop the rows of EXPLAIN. There are only a few.
    for (const row of await statement().values()) collector.add(row);
  } else {
    await statement()
      .values()
      .cursor(ROWS_PER_FETCH, (rows) => {
        const wanted = rows.every((row) => collector.add(row as unknown as readonly unknown[]));
        return wanted ? undefined : cursorEnd;
      });
  }
  return collector.result(columns.map((column) => column.name));
}

class PowerfulRole extends Error {}

function outcomeOf(error: unknown): QueryOutcome {
  if (error instanceof PowerfulRole) {
    return { kind: 'refused', why: { code: 'database_role_too_powerful', params: { advice: SELECT_ONLY } } };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof postgres.PostgresError)) return { kind: 'unreachable', message };
  if (REFUSALS.has(error.code)) return { kind: 'refused', why: { code: 'text', params: { text: message } } };
  return { kind: isUnavailable(error.code) ? 'unreachable' : 'failed', message };
}

/** SQLSTATE of a write in a read-only transaction, and of a missing privilege. */
const REFUSALS: ReadonlySet<string> = new Set(['25006', '42501']);

/** Classes 08 (connection), 53 (resources) and 57P (shutdown) are temporary. */
function isUnavailable(code: string): boolean {
  return code.startsWith('08') || code.startsWith('53') || code.startsWith('57P');
}

function isList(params: QueryParams): params is readonly Scalar[] {
  return Array.isArray(params);
}

const asIs = (text: string): string => text;

const TYPES = {
  // As text: a `Date` made from a timestamp without time zone would depend on the time zone of this machine.
  time: { to: 1184, from: [1082, 1114, 1184], serialize: asIs, parse: asIs },
  integer8: { to: 20, from: [20], serialize: asIs, parse: (text: string) => BigInt(text) },
};
