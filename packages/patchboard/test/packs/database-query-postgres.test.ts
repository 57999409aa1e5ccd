import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { aContext } from '../../src/packs/essentials/__fixtures__/context.ts';
import { failureOf } from '../../src/packs/essentials/__fixtures__/failure-of.ts';
import { isRunning } from '../../src/packs/essentials/database/__fixtures__/is-running.ts';
import { aDatabaseTool } from '../../src/packs/essentials/database/__fixtures__/tool.ts';
import type { DatabaseTool } from '../../src/packs/essentials/database/tool.ts';
import { startPostgres } from '../services/postgres.ts';
import type { PostgresService } from '../services/postgres.ts';

let service: PostgresService;
let admin: pg.Client;
const tools = new Map<string, DatabaseTool>();

/** The role that the documentation asks for, an owner who may write, and a superuser. */
const ROLES = ['reader', 'owner', 'postgres'];

beforeAll(async () => {
  service = await startPostgres();
  admin = new pg.Client(service.url);
  await admin.connect();
  await admin.query(`
    CREATE ROLE owner LOGIN;
    CREATE ROLE reader LOGIN;
    CREATE ROLE files LOGIN IN ROLE pg_read_server_files;
    CREATE TABLE t (a int, b text);
    ALTER TABLE t OWNER TO owner;
    INSERT INTO t VALUES (1, 'one'), (2, 'two');
    CREATE TYPE mood AS ENUM ('low', 'high');
    CREATE SEQUENCE s; ALTER SEQUENCE s OWNER TO owner;
    GRANT SELECT ON t TO reader, files;
    CREATE PROCEDURE p() LANGUAGE sql AS 'INSERT INTO t VALUES (9, ''nine'')';
    CREATE FUNCTION writes() RETURNS void LANGUAGE sql VOLATILE AS 'INSERT INTO t VALUES (9, ''nine'')';
  `);
  for (const role of [...ROLES, 'files', 'nobody']) {
    const url = service.urlFor(role, 'postgres');
    tools.set(role, aDatabaseTool({ target: { kind: 'postgres', url } }));
  }
}, 60_000);

afterAll(async () => {
  await Promise.all([...tools.values()].map((tool) => tool.close()));
  await admin?.end();
  await service?.close();
});

describe.each(ROLES)('database.query on PostgreSQL as %s', (role) => {
  it('returns columns and rows', async () => {
    await expect(query(role, 'select a, b from t order by a')).resolves.toEqual({
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
    ['select b from t where a = $1', [2], ['two']],
    [
      'select $1::text, $2::int, $3::float8, $4::bool, $5::text',
      ['x', 1, 1.5, true, null],
      ['x', 1, 1.5, true, null],
    ],
    ['select 5000000000::int8, 9223372036854775807::int8', [], [5000000000, '9223372036854775807']],
    ['select 1.50::numeric', [], ['1.50']],
    ["select 'NaN'::float8, '-Infinity'::float8", [], ['NaN', '-Infinity']],
    ["select '2026-01-31'::date, '2026-01-31 08:15'::timestamp", [], ['2026-01-31', '2026-01-31 08:15:00']],
    ["select '{1,2}'::int[], '{\"a\": [1]}'::jsonb", [], [[1, 2], { a: [1] }]],
    ["select '\\x00ff'::bytea", [], [{ base64: 'AP8=' }]],
    ["select 'null'::jsonb, '[]'::json, null::text[]", [], [null, [], null]],
    [
      "select '{1.50}'::numeric[], '{5000000000}'::int8[], '{t,f}'::bool[]",
      [],
      [['1.50'], [5000000000], [true, false]],
    ],
    [
      'select \'{{1,2},{3,NULL}}\'::int[], \'{"a b",NULL,"NULL"}\'::text[]',
      [],
      [
        [
          [1, 2],
          [3, null],
        ],
        ['a b', null, 'NULL'],
      ],
    ],
    ["select '[0:1]={1,2}'::int[], '{low}'::mood[], 'low'::mood", [], [[1, 2], ['low'], 'low']],
    [
      "select array['\\x00ff'::bytea], array['{}'::jsonb], '{2026-01-31}'::date[]",
      [],
      [[{ base64: 'AP8=' }], [{}], ['2026-01-31']],
    ],
    ['select $1, $2, $3', ['x', 1, true], ['x', '1', true]],
    ['select a from t where a < $1 order by a limit $2', [9, 1], [1]],
    ["select current_setting('standard_conforming_strings')", [], ['on']],
    ['select 1 as a, 2 as a', [], [1, 2]],
    ['with n as (select 1 as i) select i from n', [], [1]],
    ['values (7)', [], [7]],
    ['(select 7)', [], [7]],
    ["select count(*)::int from information_schema.tables where table_name = 't'", [], [1]],
  ])('reads %s', async (sql, params, row) => {
    await expect(query(role, sql, params)).resolves.toMatchObject({ rows: [row] });
  });

  it('names the columns of an empty result', async () => {
    await expect(query(role, 'select a, b from t where false')).resolves.toMatchObject({
      columns: ['a', 'b'],
      rows: [],
    });
  });

  it.each(['explain select * from t', '/* why */ explain (analyze, costs off) select * from t'])(
    'runs %s',
    async (sql) => {
      const result = (await query(role, sql)) as { rows: string[][] };
      expect(result.rows[0]?.[0]).toContain('Seq Scan on t');
    },
  );

  it('cuts off after the row limit and after the byte limit', async () => {
    await expect(query(role, 'select generate_series(1, 100000000)')).resolves.toMatchObject({
      row_count: 1000,
      truncated: true,
    });
    await expect(query(role, 'select generate_series(1, 1000)')).resolves.toMatchObject({ truncated: false });
    await expect(
      query(role, "select repeat('x', 100000) from generate_series(1, 100)"),
    ).resolves.toMatchObject({
      row_count: 5,
      truncated: true,
    });
  });

  it.each([
    "insert into t values (3, 'three')",
    "with x as (insert into t values (3, 'three') returning a) select * from x",
    'with x as (delete from t returning a) select * from x',
    "with x as (update t set b = 'x' returning a) select * from x",
    'select * into u from t',
    'select * from t for update',
    "select nextval('s')",
    "select setval('s', 5)",
    'select writes()',
    'create table u (a int)',
    'create temp table u (a int)',
    'drop table t',
    'truncate t',
    'call p()',
    "do $$ begin insert into t values (3, 'three'); end $$",
    'begin',
    'commit',
    'rollback',
    'set transaction read write',
    'set session characteristics as transaction read write',
    'set statement_timeout = 0',
    'reset all',
    "select set_config('transaction_read_only', 'off', false)",
    "select set_config('role', 'none', false)",
    "copy t to '/tmp/x'",
    "copy t from '/etc/passwd'",
    "copy t to program 'id'",
    'copy t to stdout',
    'select 1; select 2',
    'select 1; drop table t',
    "commit; insert into t values (3, 'three')",
    "explain analyze insert into t values (3, 'three')",
    "explain select 1; insert into t values (3, 'three')",
    "select pg_read_file('/etc/passwd')",
    "select pg_read_binary_file('/etc/passwd')",
    "select pg_ls_dir('/')",
    "select pg_stat_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "select lo_export(1, '/tmp/x')",
    "select * from dblink('dbname=postgres', 'drop table t') as x(a int)",
    "select query_to_xml('delete from t', true, true, '')",
    'select pg_terminate_backend(pg_backend_pid())',
    'select pg_advisory_lock(1)',
    'select pg_reload_conf()',
    'listen x',
    "notify x, 'y'",
    'prepare q as select 1',
    'execute q',
    'declare c cursor with hold for select 1',
    'lock table t',
    "load 'x'",
    'discard all',
    'vacuum',
    'grant all on t to public',
    'alter role reader superuser',
  ])('refuses %j', async (sql) => {
    const before = await contents();
    const failure = await failureOf(query(role, sql));
    expect(failure.code).toBe('input_invalid');
    expect(await contents()).toEqual(before);
  });

  it('stops at the deadline on both sides', async () => {
    const url = service.urlFor(role, 'postgres');
    const alone = aDatabaseTool({ target: { kind: 'postgres', url }, maxProcesses: 1 });
    await alone.tool.execute({ sql: 'select 1' }, aContext());
    const [pid = 0] = alone.pids();
    const slow = { sql: `select pg_sleep(600) /* slow ${role} */` };
    const context = aContext({ signal: AbortSignal.timeout(500), deadlineAt: 500 });
    await expect(alone.tool.execute(slow, context)).rejects.toThrow();
    await alone.close();
    expect(isRunning(pid)).toBe(false);
    const working = async (): Promise<number> => {
      const { rows } = await admin.query(
        "select 1 from pg_stat_activity where query like $1 and state = 'active' and pid <> pg_backend_pid()",
        [`%slow ${role} *%`],
      );
      return rows.length;
    };
    await expect.poll(working).toBe(0);
  });

  it('passes on what the server says', async () => {
    await expect(failureOf(query(role, 'select * from nowhere'))).resolves.toMatchObject({
      code: 'tool_failed',
      message: 'the database reported: relation "nowhere" does not exist',
    });
    await expect(failureOf(query(role, 'select :a', { a: 1 }))).resolves.toMatchObject({
      code: 'input_invalid',
    });
  });

  it('carries nothing from one query to the next', async () => {
    await query(role, 'select current_user');
    await expect(query(role, "select current_setting('statement_timeout')")).resolves.toMatchObject({
      rows: [['10s']],
    });
  });
});

describe('database.query on PostgreSQL', () => {
  it('drops the powers of a superuser, even for functions that no list names', async () => {
    await admin.query(`CREATE OR REPLACE FUNCTION peek() RETURNS text LANGUAGE plpgsql AS
      $$ begin return pg_read_file('/etc/hostname'); end $$`);
    await expect(query('postgres', 'select current_user')).resolves.toMatchObject({
      rows: [['pg_read_all_data']],
    });
    await expect(failureOf(query('postgres', 'select peek()'))).resolves.toMatchObject({
      code: 'input_invalid',
    });
  });

  it('refuses a role that reaches files and cannot be dropped from', async () => {
    await expect(failureOf(query('files', 'select 1'))).resolves.toMatchObject({
      code: 'input_invalid',
      message: expect.stringContaining('configure a role that may only SELECT'),
    });
  });

  it('ends a query whose rows take more memory than it may', async () => {
    const url = service.urlFor('reader', 'postgres');
    const small = aDatabaseTool({
      target: { kind: 'postgres', url },
      limits: { maxRows: 10, maxBytes: 1024, maxValueBytes: 1024, maxMemoryBytes: 160 * 1024 * 1024 },
    });
    const failure = await failureOf(small.tool.execute({ sql: "select repeat('x', 200000000)" }, aContext()));
    expect(failure.message).toContain('exceeds its memory limit');
    await small.close();
  });

  it('is unreachable without a server or with an unknown role', async () => {
    await expect(failureOf(query('nobody', 'select 1'))).resolves.toMatchObject({ code: 'tool_failed' });
    const gone = aDatabaseTool({
      target: { kind: 'postgres', url: 'postgres://reader@127.0.0.1:1/postgres' },
    });
    await expect(failureOf(gone.tool.execute({ sql: 'select 1' }, aContext()))).resolves.toMatchObject({
      code: 'upstream_unreachable',
      retryable: true,
    });
    await gone.close();
  });
});

async function query(role: string, sql: string, params?: unknown): Promise<unknown> {
  return await toolOf(role).tool.execute(params === undefined ? { sql } : { sql, params }, aContext());
}

function toolOf(role: string): DatabaseTool {
  return tools.get(role)!;
}

async function contents(): Promise<unknown> {
  return [
    ...(await admin.query('select a, b from t order by a')).rows,
    ...(await admin.query("select relname from pg_class where relname = 'u'")).rows,
  ];
}

describe("the server's own store in PostgreSQL", () => {
  it('is refused from the query on with which a role can read it', async () => {
    await admin.query(`
      CREATE ROLE apart LOGIN;
      CREATE SCHEMA own_store; CREATE TABLE own_store.meta (store_id text);
      INSERT INTO own_store.meta VALUES ('this-store');
      GRANT SELECT ON t TO apart;
    `);
    const tool = aDatabaseTool({
      target: { kind: 'postgres', url: service.urlFor('apart', 'postgres') },
      forbidden: { files: [], store: { schema: 'own_store', storeId: 'this-store' } },
    });
    tools.set('apart', tool);
    await expect(query('apart', 'select count(*) from t')).resolves.toMatchObject({ row_count: 1 });
    await expect(failureOf(query('apart', 'select * from own_store.meta'))).resolves.toMatchObject({
      message: expect.stringContaining('permission denied for schema own_store'),
    });
    await admin.query('GRANT USAGE ON SCHEMA own_store TO apart; GRANT SELECT ON own_store.meta TO apart');
    await expect(failureOf(query('apart', 'select 1'))).resolves.toMatchObject({
      code: 'permission_denied',
      message: expect.stringContaining("the platform's own store"),
    });
  });
});
