import { existsSync, linkSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { aContext } from '../__fixtures__/context.ts';
import { failureOf } from '../__fixtures__/failure-of.ts';
import { isRunning } from './__fixtures__/is-running.ts';
import { aDatabaseTool, aFolder, writeDatabase } from './__fixtures__/tool.ts';
import type { DatabaseTool } from './tool.ts';

const folder = aFolder();
const file = folder.file('own.db');
const other = folder.file('other.db');
let database: DatabaseTool;

beforeAll(() => {
  writeDatabase(
    file,
    `CREATE TABLE t (a INTEGER, b TEXT);
     INSERT INTO t VALUES (1, 'one'), (2, 'two');
     CREATE VIEW v AS SELECT a FROM t;
     CREATE VIEW evil AS SELECT load_extension('x') AS x FROM t;
     CREATE VIRTUAL TABLE words USING fts5(body);
     INSERT INTO words VALUES ('hello world'), ('other');`,
  );
  writeDatabase(other, "CREATE TABLE secret (x); INSERT INTO secret VALUES ('hidden')");
  database = aDatabaseTool({ target: { kind: 'sqlite', file } });
});
afterAll(async () => {
  await database.close();
  folder.remove();
});

describe('database.query on SQLite', () => {
  it('returns columns and rows', async () => {
    await expect(query('select a, b from t order by a')).resolves.toEqual({
      columns: ['a', 'b'],
      rows: [
        [1, 'one'],
        [2, 'two'],
      ],
      row_count: 2,
      truncated: false,
    });
  });

  it.each([
    ['a list', 'select b from t where a = ?', [2], [['two']]],
    ['names', 'select b from t where a = :a or b = $b', { a: 2, b: 'none' }, [['two']]],
    ['numbers', 'select ?2, ?1, ?2', ['x', 'y'], [['y', 'x', 'y']]],
    ['every scalar', 'select ?, ?, ?, ?, ?', ['x', 1, 1.5, true, null], [['x', 1, 1.5, 1, null]]],
    ['whole numbers as integers', "select typeof(?), 'n' || ?", [3, 3], [['integer', 'n3']]],
  ])('binds %s', async (_, sql, params, rows) => {
    await expect(query(sql, params)).resolves.toMatchObject({ rows });
  });

  it.each([
    ['select 9223372036854775807', ['9223372036854775807']],
    ['select 9e999, -9e999', ['Infinity', '-Infinity']],
    ["select x'00ff'", [{ base64: 'AP8=' }]],
    ['select 1 as a, 2 as a', [1, 2]],
    ['select 1 as "__proto__"', [1]],
    ['select count(*) from v', [2]],
    ["select snippet(words, 0, '[', ']', '', 5) from words where words match 'hello'", ['[hello] world']],
    ["select value from json_each('[7]')", [7]],
    [
      'with recursive n(i) as (select 1 union all select i + 1 from n where i < 10) select sum(i) from n',
      [55],
    ],
    ["select count(*) from sqlite_master where name = 't'", [1]],
    ['select row_number() over (order by a desc) from t limit 1', [1]],
  ])('reads %s', async (sql, row) => {
    await expect(query(sql)).resolves.toMatchObject({ rows: [row] });
  });

  it('explains', async () => {
    await expect(query('explain query plan select * from t')).resolves.toMatchObject({ row_count: 1 });
  });

  it.each([
    'insert into t values (3, 3)',
    'with x as (select 1) insert into t select 3, 3 from x',
    'with x as (select 1) update t set a = 3',
    'with x as (select 1) delete from t',
    'replace into t values (1, 1)',
    'create table x (a)',
    'create temp table x (a)',
    'create temp view x as select 1',
    'create trigger r after insert on t begin select 1; end',
    'drop table t',
    'alter table t add c',
    'pragma user_version',
    'pragma writable_schema = on',
    "select * from pragma_table_info('t')",
    'select * from pragma_database_list',
    'select * from dbstat',
    `attach '${other}' as o`,
    "attach ':memory:' as o",
    `vacuum into '${other}.copy'`,
    'vacuum',
    'reindex',
    'analyze',
    'begin',
    'begin immediate',
    'savepoint a',
    'commit',
    'select 1; select 2',
    'select 1; drop table t',
    "select load_extension('/tmp/x.so')",
    'select * from evil',
    "select readfile('/etc/passwd')",
    "select writefile('/tmp/x', 'y')",
    "select edit('x')",
    "select fts3_tokenizer('simple')",
    "select sqlite_log(1, 'x')",
    "select optimize(words) from words where words match 'hello'",
    'explain delete from t',
    'explain pragma user_version',
    "insert into words(words) values ('rebuild')",
  ])('refuses %j', async (sql) => {
    const before = readFileSync(file);
    const failure = await failureOf(query(sql));
    expect(['input_invalid', 'tool_failed']).toContain(failure.code);
    expect(failure.message).not.toBe('');
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(`${other}.copy`)).toBe(false);
  });

  it.each([
    ["select load_extension('x')", 'the function load_extension may not be used'],
    ["select * from pragma_table_info('t')", 'the table pragma_table_info may not be read'],
    ['with x as (select 1) delete from t', 'DELETE is not allowed: only reading is'],
    ['pragma user_version', 'only SELECT, WITH, VALUES and EXPLAIN of these may be run, not PRAGMA'],
  ])('returns the reason for refusing %j', async (sql, message) => {
    await expect(failureOf(query(sql))).resolves.toMatchObject({
      code: 'input_invalid',
      message,
      issues: [{ path: '/sql' }],
    });
  });

  it.each([
    ['select', 'incomplete input'],
    ['select * from nowhere', 'no such table: nowhere'],
    ['select :a', "Unknown named parameter 'b'", { a: 1, b: 1 }],
  ])("returns SQLite's error for %j", async (sql, message, params?: unknown) => {
    const failure = await failureOf(query(sql, params));
    expect(failure.code).toBe('tool_failed');
    expect(failure.message).toContain(message);
  });

  it.each([
    ['select ?', undefined, 'the statement has 1 placeholders, but params has 0 values: give one for each'],
    ['select ?', [1, 2], 'the statement has 1 placeholders, but params has 2 values'],
    ['select ?3, ?', [1, 2, 3], 'the statement has 4 placeholders, but params has 3 values'],
    ["select '?' -- ?", [1], 'the statement has 0 placeholders, but params has 1 values'],
    ['select :a, @b', undefined, 'the statement names :a, @b: params must be an object with these'],
    ['select :a, @b, $c', { a: 1, '@b': 2 }, 'params has no value for $c'],
    ['select ?', { a: 1 }, 'params must be a list'],
  ])('refuses %j with %j, where SQLite would read NULL', async (sql, params, message) => {
    const failure = await failureOf(query(sql, params));
    expect(failure).toMatchObject({ code: 'input_invalid', issues: [{ path: '/params' }] });
    expect(failure.message).toContain(message);
  });

  it('cuts off after the row limit without reading the rest', async () => {
    // An endless query, so that the test passes only if reading stops.
    const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n';
    await expect(query(endless)).resolves.toMatchObject({ row_count: 1000, truncated: true });
    await expect(query(`${endless} limit 1000`)).resolves.toMatchObject({
      row_count: 1000,
      truncated: false,
    });
  });

  it('cuts off after the byte limit', async () => {
    const result = await query(
      "with recursive n(i) as (select 1 union all select i + 1 from n) select printf('%.*c', 100000, 'x') from n",
    );
    expect(result).toMatchObject({ row_count: 5, truncated: true });
  });

  it.each([
    'select zeroblob(1000000000)',
    'select length(zeroblob(1000000000))',
    'select length(randomblob(1000000000))',
    "select length(printf('%1000000000d', 1))",
    "select length(replace(printf('%.*c', 900000, 'x'), 'x', 'xxxxxxxxxx'))",
    "with recursive n(i) as (select 1 union all select i + 1 from n limit 100000) select length(group_concat('xxxxxxxxxxxxxxxx')) from n",
    "with recursive n(i) as (select 1 union all select i + 1 from n limit 100000) select json_group_array('xxxxxxxxxxxxxxxx') from n",
  ])('does not build a value beyond the limit: %s', async (sql) => {
    await expect(failureOf(query(sql))).resolves.toMatchObject({
      message: expect.stringContaining('too big'),
    });
  });

  it('ends a query that exceeds its memory limit', async () => {
    const hoard =
      'with recursive n(i) as (select 1 union all select i + 1 from n) select i, randomblob(1000000) as r from n order by r';
    const failure = await failureOf(query(hoard));
    expect(failure.message).toContain('exceeds its memory limit');
    await expect(query('select 1')).resolves.toMatchObject({ rows: [[1]] });
  });

  it.each([
    [
      'a recursion without end',
      'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n',
    ],
    [
      'a huge join',
      'with recursive n(i) as (select 1 union all select i + 1 from n limit 100000) select count(*) from n a, n b, n c where a.i + b.i + c.i = 0',
    ],
    [
      'an aggregate without end',
      "with recursive n(i) as (select 1 union all select i + 1 from n) select group_concat('xxxxxxxxxxxxxxxx') from n",
    ],
  ])('kills %s at the deadline', async (_, sql) => {
    await using alone = disposable(aDatabaseTool({ target: { kind: 'sqlite', file }, maxProcesses: 1 }));
    await alone.query('select 1');
    const [pid = 0] = alone.pids();
    expect(isRunning(pid)).toBe(true);
    await expect(alone.query(sql, AbortSignal.timeout(200))).rejects.toThrow('timeout');
    // When the call ends, the work has ended too; the next call gets another child.
    expect(isRunning(pid)).toBe(false);
    await expect(alone.query('select 2')).resolves.toMatchObject({ rows: [[2]] });
    expect(alone.pids()).not.toContain(pid);
  });

  it('does not start a query that was aborted before', async () => {
    const signal = AbortSignal.abort(new Error('cancelled'));
    await expect(database.tool.execute({ sql: 'select 1' }, aContext({ signal }))).rejects.toThrow(
      'cancelled',
    );
  });

  it('reports a missing file, or one that is not a database', async () => {
    await using missing = disposable(
      aDatabaseTool({ target: { kind: 'sqlite', file: folder.file('none.db') } }),
    );
    await expect(failureOf(missing.query('select 1'))).resolves.toMatchObject({ code: 'tool_failed' });
    expect(existsSync(folder.file('none.db'))).toBe(false);
    await using text = disposable(aDatabaseTool({ target: { kind: 'sqlite', file: import.meta.filename } }));
    await expect(failureOf(text.query('select * from sqlite_master'))).resolves.toMatchObject({
      message: expect.stringContaining('file is not a database'),
    });
  });

  it('leaves nothing beside the database', async () => {
    await query('select a from t order by b');
    expect(readdirSync(dirname(file)).filter((name) => name.startsWith('own.db'))).toEqual(['own.db']);
  });
});

describe('the databases that database.query may not read', () => {
  const links = { hard: folder.file('hard.db'), soft: folder.file('soft.db') };

  beforeAll(() => {
    linkSync(other, links.hard);
    symlinkSync(other, links.soft);
  });

  it.each([
    ['its path', other],
    ['a path with detours', `${dirname(other)}/./x/../other.db`],
    ['a symbolic link', links.soft],
    ['a hard link', links.hard],
  ])('refuses to start on the forbidden file by %s', (_, path) => {
    const start = (): unknown =>
      aDatabaseTool({ target: { kind: 'sqlite', file: path }, forbidden: { files: [other], store: null } });
    expect(start).toThrow("the platform's own store");
  });

  it('refuses a link that is laid later', async () => {
    const late = folder.file('late.db');
    await using tool = disposable(
      aDatabaseTool({ target: { kind: 'sqlite', file: late }, forbidden: { files: [other], store: null } }),
    );
    symlinkSync(other, late);
    await expect(failureOf(tool.query('select * from secret'))).resolves.toMatchObject({
      code: 'permission_denied',
    });
  });

  it.each([
    ['postgres://a:secret@db/x?ssl_mode=require', 'has the unknown parameter ssl_mode'],
    ['postgres://a:secret@db/x?sslmode=on', 'has sslmode=on; it is one of disable, allow'],
    ['postgres://a:secret@db/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem', 'cannot be read (ENOENT)'],
  ])('refuses to start with the URL %s', (url, problem) => {
    const start = (): unknown => aDatabaseTool({ target: { kind: 'postgres', url } });
    expect(start).toThrow(/^database\.query: the database URL has (?!.*secret)/);
    expect(start).toThrow(problem);
  });
});

async function query(sql: string, params?: unknown): Promise<unknown> {
  return await database.tool.execute(params === undefined ? { sql } : { sql, params }, aContext());
}

function disposable(made: DatabaseTool): AsyncDisposable & {
  query(sql: string, signal?: AbortSignal): Promise<unknown>;
  pids(): readonly number[];
} {
  return {
    query: async (sql, signal = new AbortController().signal) =>
      await made.tool.execute({ sql }, aContext({ signal })),
    pids: () => made.pids(),
    [Symbol.asyncDispose]: () => made.close(),
  };
}
