import type { Connection } from './connection.ts';
import { isPreparedStatementLost } from './sql-errors.ts';

/** Transactions of each connection that are compared. Idle connections of a pool are reused, so the first ones tell mostly. */
const ROUNDS = 10;

/**
 * Whether statements that one connection prepares can be used by it later. Behind a pooler they cannot, if it passes their
 * names on to the server and gives the transactions of a client different connections.
 */
export async function keepsPreparedStatements(first: Connection, second: Connection): Promise<boolean> {
  try {
    return !(await passesNamesOn(first)) || !(await sharesSessions(first, second));
  } catch (error) {
    if (isPreparedStatementLost(error)) return false;
    throw error;
  }
}

/** A pooler that follows prepared statements gives them names of its own. */
async function passesNamesOn(connection: Connection): Promise<boolean> {
  const name = 'check_prepared';
  const text = `select exists (select from pg_prepared_statements where name = '${name}') as visible`;
  const { rows } = await connection.query<{ visible: boolean }>({ name, text });
  return rows[0]?.visible === true;
}

/** Whether a session of the server is used by both connections, or a connection uses more than one. */
async function sharesSessions(first: Connection, second: Connection): Promise<boolean> {
  const own = await sessionOf(first);
  const other = await sessionOf(second);
  if (own === other) return true;
  for (let round = 1; round < ROUNDS; round += 1)
    if ((await sessionOf(first)) !== own || (await sessionOf(second)) !== other) return true;
  return false;
}

/** The session of one transaction. */
async function sessionOf(connection: Connection): Promise<number | undefined> {
  const client = await connection.client();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}
