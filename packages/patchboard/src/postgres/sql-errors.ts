/** SQLSTATE codes that have functions below. */
const DISK_FULL = '53100';
const INSUFFICIENT_PRIVILEGE = '42501';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_SCHEMA = '3F000';
const READ_ONLY = '25006';
const IDLE_IN_TRANSACTION = '25P03';
const UNDEFINED_PREPARED_STATEMENT = '26000';
const DUPLICATE_PREPARED_STATEMENT = '42P05';
const INVALID_PASSWORD = '28P01';
const UNDEFINED_DATABASE = '3D000';

/** Matches the messages of errors without a SQLSTATE, which the driver throws when the connection is gone. */
const LOST_TEXT =
  /connection terminated|connection ended|client has encountered a connection error|client was closed|not queryable|server closed|timeout expired/i;
const REPLY_MISSING_TEXT = 'Query read timeout';
const LOST_CODES: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** Returns the SQLSTATE of an error that PostgreSQL or a pooler reported; null for any other error. */
export function sqlState(error: unknown): string | null {
  const code = codeOf(error);
  return code !== null && /^[0-9A-Z]{5}$/.test(code) && !LOST_CODES.has(code) ? code : null;
}

/**
 * Whether the connection is gone, so that the statement may or may not have been executed. Also true while the server
 * starts or stops, or has no connection left: another attempt may succeed.
 */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null)
    return (
      state.startsWith('08') || // connection exceptions, also those that a pooler reports
      /^57P0[1-35]$/.test(state) || // shut down, crashed, starting; the database was dropped or is idle
      state === '53300' || // too many connections
      state === IDLE_IN_TRANSACTION
    );
  const code = codeOf(error);
  return (code !== null && LOST_CODES.has(code)) || LOST_TEXT.test(textOf(error)) || isReplyMissing(error);
}

/** Whether the server ended the session because its transaction was idle for too long. */
export function isIdleInTransaction(error: unknown): boolean {
  return sqlState(error) === IDLE_IN_TRANSACTION;
}

/** Whether no reply came in the time that the connection allows. */
export function isReplyMissing(error: unknown): boolean {
  return textOf(error) === REPLY_MISSING_TEXT;
}

export function isDiskFull(error: unknown): boolean {
  return sqlState(error) === DISK_FULL;
}

export function isPrivilegeMissing(error: unknown): boolean {
  return sqlState(error) === INSUFFICIENT_PRIVILEGE;
}

export function isTableMissing(error: unknown): boolean {
  const state = sqlState(error);
  return state === UNDEFINED_TABLE || state === UNDEFINED_SCHEMA;
}

/** A hot standby, or a database with `default_transaction_read_only`. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

/** The error of a session that cannot write, before a statement finds out. */
export function readOnlySession(): Error {
  return Object.assign(new Error('the database is read-only, such as a standby'), { code: READ_ONLY });
}

/** The error of a session on a standby, which may show an earlier state. */
export function standbySession(): Error {
  return Object.assign(new Error('the database is a standby'), { code: READ_ONLY });
}

/** The error of a named statement that went through a pooler which gives each transaction another connection. */
export function isPreparedStatementLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === UNDEFINED_PREPARED_STATEMENT || state === DUPLICATE_PREPARED_STATEMENT;
}

/**
 * Whether one write of a batch causes the error, so that the others succeed without it: bad data, a violated constraint, a
 * deadlock, a lock or a statement that took too long.
 */
export function isCausedByOneWrite(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && /^(22|23|40|54|55P03|57014)/.test(state);
}

/** A deadlock or a serialization failure: the same statement may succeed when it is repeated. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** A statement that waited too long for a lock, took too long, or was cancelled by an operator. */
export function isTimeout(error: unknown): boolean {
  const state = sqlState(error);
  return state === '55P03' || state === '57014';
}

/** Returns what the operator can do about an error of connecting. */
export function connectAdvice(error: unknown): string {
  switch (sqlState(error)) {
    case INVALID_PASSWORD:
      return 'check the role and the password in the URL; encode special characters of the password, such as % as %25';
    case UNDEFINED_DATABASE:
      return 'create the database, or check its name in the URL';
    default:
      return 'check the URL, and that PostgreSQL runs and accepts connections from this machine';
  }
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
