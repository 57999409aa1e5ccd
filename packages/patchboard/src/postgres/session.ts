import pg from 'pg';

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
}

/** Changes the settings of the session; none if a pooler is in between, which gives clients a key of its own. */
export async function changeSession(
  client: pg.Client,
  wanted: Readonly<Record<string, string>>,
): Promise<Session> {
  const settings = Object.entries(wanted).map(
    ([name, value]) => `case when pg_backend_pid() = $1 then set_config('${name}', '${value}', false) end`,
  );
  const known = `pg_backend_pid() as pid, current_setting('transaction_read_only')::bool as read_only`;
  const text = `select ${[known, ...settings.map((set, index) => `${set} as s${index}`)].join(', ')}`;
  const key = (client as unknown as { readonly processID: number }).processID;
  const { rows } = await client.query<{ pid: number; read_only: boolean }>({ text, values: [key] });
  return { isPooled: rows[0]?.pid !== key, isReadOnly: rows[0]?.read_only === true };
}

/** Reads `bigint` columns as numbers. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8
      ? (text: string): number => Number(text)
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};
