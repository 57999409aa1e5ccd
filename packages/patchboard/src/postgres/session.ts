import pg from 'pg';
import { readOnlySession, standbySession } from './sql-errors.ts';

const INT8 = 20;

/** For a transaction on a connection on which a shorter limit was too short. */
export const LONG_IDLE: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: '2s',
};

/**
 * Session settings. A transaction that a stopped process left open would hold its locks, so the server ends it. Not set
 * behind a pooler, whose connections other clients use too: there each transaction sets them for itself.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  synchronous_commit: 'on',
  ...LONG_IDLE,
  lock_timeout: '4s',
  statement_timeout: '15s',
  // Where `enable_seqscan` is off, a scan has such a high estimated cost that PostgreSQL would compile the statement.
  jit: 'off',
};

/** Sets the limits of `SETTINGS` until the end of the transaction. */
export const LONG_TEXT: string = ['lock_timeout', 'statement_timeout']
  .map((name) => `set local ${name} = '${SETTINGS[name]}'`)
  .join('; ');

/** Also in a database whose default is another isolation level. */
export const BEGIN = 'begin isolation level read committed';

/** Begins a transaction with these settings, which end with it. */
export function beginText(settings: Readonly<Record<string, string>>): string {
  const set = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`);
  return [BEGIN, ...set].join('; ');
}

/** What is known of a session when it begins. */
export interface Session {
  readonly isPooled: boolean;
  /** True on a standby, or if the database or the role has `default_transaction_read_only`. */
  readonly isReadOnly: boolean;
  /** True on a server that replays the changes of another one. */
  readonly isStandby: boolean;
}

/**
 * The sessions that a connection accepts, as `target_session_attrs` of libpq names them: after a failover the address may lead to
 * the former primary, which is a standby now. A provider makes a primary read-only when its disk is nearly full.
 */
export type SessionTarget = 'any' | 'primary' | 'read-write';

/** Throws if a connection does not accept such a session. */
export function refuseSession({ isReadOnly, isStandby }: Session, target: SessionTarget): void {
  if (target === 'read-write' && isReadOnly) throw readOnlySession();
  if (target === 'primary' && isStandby) throw standbySession();
}

/** Changes the settings of the session; none if a pooler is in between, which gives clients a key of its own. */
export async function changeSession(
  client: pg.Client,
  wanted: Readonly<Record<string, string>>,
): Promise<Session> {
  const settings = Object.entries(wanted).map(
    ([name, value]) => `case when pg_backend_pid() = $1 then set_config('${name}', '${value}', false) end`,
  );
  const known = `pg_backend_pid() as pid, current_setting('transaction_read_only')::bool as read_only,
    pg_is_in_recovery() as standby`;
  const text = `select ${[known, ...settings.map((set, index) => `${set} as s${index}`)].join(', ')}`;
  const key = (client as unknown as { readonly processID: number }).processID;
  const { rows } = await client.query<{ pid: number; read_only: boolean; standby: boolean }>({
    text,
    values: [key],
  });
  const [row] = rows;
  return {
    isPooled: row?.pid !== key,
    isReadOnly: row?.read_only === true,
    isStandby: row?.standby === true,
  };
}

/** Reads `bigint` columns as numbers. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8
      ? (text: string): number => Number(text)
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};
