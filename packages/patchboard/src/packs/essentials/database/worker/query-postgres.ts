import postgres from 'postgres';

import type { QueryAnswer, QueryParams, QueryRequest, Scalar } from './protocol.ts';
import { RowCollector } from './row-collector.ts';

type Connection = postgres.Sql | postgres.ReservedSql;

const CONNECT_TIMEOUT_S = 5;
const ROWS_PER_FETCH = 50;
// The server itself refuses a second statement in this protocol. The driver's types leave the option out.
const EXTENDED = { simple: false, prepare: false } as postgres.UnsafeQueryOptions;
const SELECT_ONLY = 'configure a role that may only SELECT';

/** Being a member of any of these reaches files and programs of the server; a superuser is a member of all. */
const POWERFUL_ROLE = `select exists (
  select from pg_roles
  where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    and pg_has_role(current_user, oid, 'member')
) as powerful`;

/** Connects for this one query, so that no session state is carried from one caller to the next. */
export async function queryPostgres(url: string, request: QueryRequest): Promise<QueryAnswer> {
  const params = request.params;
  if (!isList(params))
    return { kind: 'refused', message: 'PostgreSQL takes params as a list, for $1, $2 and so on' };
  const sql = postgres(url, {
    max: 1,
    connect_timeout: CONNECT_TIMEOUT_S,
    onnotice: () => undefined,
    types: TYPES,
    connection: { application_name: 'patchboard database.query', standard_conforming_strings: 'on' },
  });
  try {
    // Reserving the first connection before anything has used it never resolves, so this goes first.
    const [role] = await sql.unsafe<{ powerful: boolean }[]>(POWERFUL_ROLE);
    const session = await sql.reserve();
    await begin(session, role?.powerful !== false, request.budgetMs);
    return await readRows(session, params, { ...request, cursorEnd: sql.CLOSE });
  } catch (error) {
    return answerFor(error);
  } finally {
    // Closing without a commit rolls back.
    await sql.end({ timeout: 0 });
  }
}

/** The server ends the statement by itself, because a killed client goes unnoticed while it computes. */
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
  // A reserved connection has no CLOSE of its own, whatever its type says, so it comes from outside.
  { cursorEnd, ...request }: QueryRequest & { cursorEnd: postgres.Sql['CLOSE'] },
): Promise<QueryAnswer> {
  const statement = (): postgres.PendingQuery<postgres.Row[]> =>
    session.unsafe(request.sql, [...params], EXTENDED);
  const { columns } = await statement().describe();
  const collector = new RowCollector(request.limits);
  if (request.keyword === 'EXPLAIN') {
    // A cursor drops these rows: the answer to EXPLAIN carries no count. It is as short as the statement.
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

function answerFor(error: unknown): QueryAnswer {
  if (error instanceof PowerfulRole) {
    return { kind: 'refused', message: `the configured role may reach files of the server; ${SELECT_ONLY}` };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof postgres.PostgresError)) return { kind: 'unreachable', message };
  const kind = REFUSALS.has(error.code) ? 'refused' : isUnavailable(error.code) ? 'unreachable' : 'failed';
  return { kind, message };
}

/** A write in a read-only transaction, and what the role may not do. */
const REFUSALS: ReadonlySet<string> = new Set(['25006', '42501']);

/** Classes 08 (connection), 53 (resources) and 57P (shutdown) pass; a wrong statement does not. */
function isUnavailable(code: string): boolean {
  return code.startsWith('08') || code.startsWith('53') || code.startsWith('57P');
}

function isList(params: QueryParams): params is readonly Scalar[] {
  return Array.isArray(params);
}

const asIs = (text: string): string => text;

const TYPES = {
  // As the server writes them: a date made of a timestamp without zone would take on the zone of this machine.
  time: { to: 1184, from: [1082, 1114, 1184], serialize: asIs, parse: asIs },
  integer8: { to: 20, from: [20], serialize: asIs, parse: (text: string) => BigInt(text) },
};
