import { reason, type Reason } from '@patchboard/wire';
import { skeletonOf } from './skeleton.ts';
import type { Dialect } from './skeleton.ts';

export type CheckedStatement =
  { readonly ok: true; readonly keyword: string } | { readonly ok: false; readonly problem: Reason };

const READING: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: ['SELECT', 'WITH', 'VALUES'],
  postgres: ['SELECT', 'WITH', 'VALUES', 'TABLE'],
};

/**
 * Checks that the text is a single reading statement, to return a helpful message. Security does not depend on it:
 * SQLite's authorizer, and PostgreSQL's read-only transaction and role, enforce reading.
 */
export function checkStatement(sql: string, dialect: Dialect): CheckedStatement {
  if (sql.includes('\0')) return refused(reason('sql_with_nul'));
  const skeleton = skeletonOf(sql, dialect);
  if (skeleton === undefined) return refused(reason('sql_not_terminated'));
  const end = skeleton.indexOf(';');
  if (end !== -1 && skeleton.slice(end).replace(/[\s;]/g, '') !== '') {
    return refused(reason('sql_several'));
  }
  const body = skeleton.slice(0, end === -1 ? undefined : end).replace(/^[\s(]+/, '');
  const keyword = firstWord(body);
  if (keyword === '') return refused(reason('sql_empty'));
  const subject = keyword === 'EXPLAIN' ? explainedWord(body) : keyword;
  if (!READING[dialect].includes(subject)) {
    return refused(reason('sql_not_reading', { allowed: READING[dialect].join(', '), found: subject }));
  }
  return dialect === 'postgres' ? checkNames(sql, keyword) : { ok: true, keyword };
}

/** Functions that run text as SQL, change settings, or access files, other servers or other sessions. */
const POSTGRES_NAMES = new RegExp(
  `(?<![a-z0-9_$])(?:set_config|(?:query|cursor|table|schema|database)_to_xml\\w*|ts_stat|ts_rewrite|crosstab\\w*|connectby|dblink\\w*|lo_\\w+|loread|lowrite|pg_read_\\w*file|pg_stat_file|pg_ls_\\w+|pg_file_\\w+|pg_logdir_ls|pg_(?:try_)?advisory_\\w+|pg_(?:terminate|cancel)_backend|pg_reload_conf|pg_rotate_logfile\\w*|pg_switch_wal|pg_create_\\w+|pg_drop_\\w+|pg_logical_\\w+|pg_replication_\\w+|pg_notify|pg_promote|pg_export_snapshot|pg_backup_\\w+|pg_(?:start|stop)_backup|pg_wal_replay_\\w+|pg_execute_server_program)(?![a-z0-9_$])`,
  'i',
);

/** Searches the whole text, including quoted texts and comments: stricter than needed, but independent of quoting rules. */
function checkNames(sql: string, keyword: string): CheckedStatement {
  if (/\bu&\s*["']/i.test(sql)) return refused(reason('sql_unicode_escapes'));
  const name = POSTGRES_NAMES.exec(sql)?.[0];
  return name === undefined
    ? { ok: true, keyword }
    : refused(reason('sql_function_forbidden', { name: name.toLowerCase() }));
}

function firstWord(text: string): string {
  return /^\w+/.exec(text)?.[0]?.toUpperCase() ?? '';
}

/** Returns the word after EXPLAIN and its options, which are words or one list in parentheses. */
function explainedWord(text: string): string {
  const rest = text
    .replace(/^\w+\s*/, '')
    .replace(/^\([^()]*\)\s*/, '')
    .replace(/^(?:(?:QUERY\s+PLAN|ANALYZE|ANALYSE|VERBOSE)\b\s*)*/i, '')
    .replace(/^[\s(]+/, '');
  return firstWord(rest);
}

function refused(problem: Reason): CheckedStatement {
  return { ok: false, problem };
}
