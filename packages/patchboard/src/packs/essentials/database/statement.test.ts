import { reasonText } from '@patchboard/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { checkStatement } from './statement.ts';

function problemOf(sql: string, dialect: 'sqlite' | 'postgres'): string {
  const checked = checkStatement(sql, dialect);
  return checked.ok ? 'none' : reasonText(checked.problem);
}

describe('checkStatement', () => {
  it.each([
    ['select 1', 'SELECT'],
    ['  SELECT 1 ;  ', 'SELECT'],
    ['select 1; -- done', 'SELECT'],
    ['-- first\n/* then */ select 1', 'SELECT'],
    ['with a as (select 1) select * from a', 'WITH'],
    ['values (1), (2)', 'VALUES'],
    ["select ';'", 'SELECT'],
    ['select 1 as ";"', 'SELECT'],
    ["select 'it''s; fine'", 'SELECT'],
    ['explain select 1', 'EXPLAIN'],
  ])('accepts %j in both dialects', (sql, keyword) => {
    expect(checkStatement(sql, 'sqlite')).toEqual({ ok: true, keyword });
    expect(checkStatement(sql, 'postgres')).toEqual({ ok: true, keyword });
  });

  it.each([
    ['explain query plan select 1', 'EXPLAIN'],
    ['select [a;b], `c;d` from t', 'SELECT'],
  ])('accepts %j in SQLite', (sql, keyword) => {
    expect(checkStatement(sql, 'sqlite')).toEqual({ ok: true, keyword });
  });

  it.each([
    ['explain (analyze, costs off) select 1', 'EXPLAIN'],
    ['explain analyze verbose select 1', 'EXPLAIN'],
    ['table t', 'TABLE'],
    ['(select 1) union (select 2)', 'SELECT'],
    ['select $$;$$, $tag$ ; $x$ ; $tag$', 'SELECT'],
    ["select E'\\'; drop table t'", 'SELECT'],
    ['/* a /* nested; */ b */ select 1', 'SELECT'],
    ['select $1::int', 'SELECT'],
    ["select a$b$c, '$b$' from t", 'SELECT'],
  ])('accepts %j in PostgreSQL', (sql, keyword) => {
    expect(checkStatement(sql, 'postgres')).toEqual({ ok: true, keyword });
  });

  it.each([
    ['', 'there is no statement'],
    [' ; ', 'there is no statement'],
    ['-- only a comment', 'there is no statement'],
    ['select 1; select 2', 'only one statement may be run at a time'],
    ['select 1;;drop table t', 'only one statement may be run at a time'],
    ["select ''';'; delete from t", 'only one statement may be run at a time'],
    ['select 1 /* ; */ ; vacuum', 'only one statement may be run at a time'],
    ["select 'open", 'a quoted text or comment in the statement is not terminated'],
    ['select "open', 'a quoted text or comment in the statement is not terminated'],
    ['select 1\0; drop table t', 'the statement contains a NUL character'],
  ])('refuses %j in both dialects', (sql, problem) => {
    expect(problemOf(sql, 'sqlite')).toBe(problem);
    expect(problemOf(sql, 'postgres')).toBe(problem);
  });

  it.each([
    'insert into t values (1)',
    'update t set a = 1',
    'delete from t',
    'create table x (a)',
    'create temp table x (a)',
    'drop table t',
    'alter table t add b',
    'begin',
    'commit',
    'savepoint a',
    'vacuum',
    "vacuum into '/tmp/x'",
    'analyze',
    'reindex',
    "attach 'x' as y",
    'detach y',
    'pragma user_version',
    'explain delete from t',
    'set x = 1',
    'set transaction read write',
    "copy t to '/tmp/x'",
    "copy t to program 'id'",
    'do $$ begin end $$',
    'call p()',
    'execute p',
    'prepare p as select 1',
    'declare c cursor for select 1',
    'fetch all from c',
    'listen x',
    'notify x',
    'lock table t',
    "load 'x'",
    'reset all',
    'discard all',
    'explain analyze delete from t',
    'explain (analyze) execute p',
    'grant all on t to public',
    'truncate t',
    'refresh materialized view v',
    'merge into t using s on true when matched then delete',
    'show all',
    'import foreign schema s from server x into y',
  ])('refuses %j in both dialects', (sql) => {
    expect(checkStatement(sql, 'sqlite')).toMatchObject({ ok: false });
    expect(checkStatement(sql, 'postgres')).toMatchObject({ ok: false });
  });

  it.each([
    "select pg_read_file('/etc/passwd')",
    'select PG_READ_BINARY_FILE($1)',
    'select "pg_read_file"($1)',
    "select pg_catalog.pg_ls_dir('/')",
    "select pg_stat_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "select lo_export(1, '/tmp/x')",
    "select lo_from_bytea(0, 'x')",
    "select * from dblink('host=x', 'select 1') as t(a int)",
    "select dblink_connect('host=x')",
    "select set_config('transaction_read_only', 'off', false)",
    "select query_to_xml('select 1', true, true, '')",
    "select * from ts_stat('select 1')",
    'select pg_terminate_backend(1)',
    'select pg_advisory_lock(1)',
    'select pg_try_advisory_lock(1)',
    'select pg_reload_conf()',
    "select pg_notify('a', 'b')",
    "select pg_logical_emit_message(false, 'a', 'b')",
    'select U&"\\0070g_read_file"($1)',
    "select u&'\\0061'",
  ])('refuses %j in PostgreSQL', (sql) => {
    expect(checkStatement(sql, 'postgres')).toMatchObject({ ok: false });
  });

  it('returns a result for any text, in both dialects', () => {
    const pieces = [
      "'",
      '"',
      '`',
      '[',
      ']',
      '$',
      '$a$',
      '/*',
      '*/',
      '--',
      '\n',
      ';',
      'select',
      ' ',
      'e',
      '\\',
      '(',
      '1',
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.constantFrom('sqlite', 'postgres'), (sql, dialect) => {
        expect(checkStatement(sql, dialect)).toHaveProperty('ok');
      }),
      { numRuns: 3000 },
    );
  });
});
