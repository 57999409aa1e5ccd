import type { Battery } from './battery.ts';
import { faultProblem } from './target.ts';

/** Statements that write, leave the database or never end. None may complete. */
const ESCAPES: readonly string[] = [
  "attach database '/tmp/x.db' as x",
  "attach database ':memory:' as x",
  "attach 'file:patchboard.db?mode=rw' as x",
  'detach database main',
  "vacuum into '/tmp/x.db'",
  'vacuum',
  'pragma writable_schema = on',
  'pragma journal_mode = delete',
  'pragma database_list',
  "pragma table_info('users')",
  'pragma query_only = off',
  'create table x (a)',
  'create temp table x as select 1',
  'create view x as select 1',
  'create trigger t after insert on users begin select 1; end',
  'drop table users',
  'alter table users add column x',
  "insert into users values (1, 'x')",
  'update users set name = 1',
  'delete from users',
  "replace into users values (1, 'x')",
  'select 1; drop table users',
  'select 1; select 2',
  '/* */ select 1 /* */ ; -- \n delete from users',
  'begin; delete from users; commit',
  'begin immediate',
  'savepoint a',
  "select load_extension('/tmp/x.so')",
  "select readfile('/etc/passwd')",
  "select writefile('/tmp/x', 'x')",
  "select edit('x')",
  'select fts3_tokenizer(1)',
  'with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r',
  'select randomblob(1000000000)',
  'select hex(zeroblob(900000000))',
  "select replace(zeroblob(100000000), x'00', 'xxxxxxxxxx')",
  "select printf('%.*c', 2000000000, 'x')",
  'explain delete from users',
  'reindex',
  'analyze',
];

/**
 * `database.query` is read-only: statements that write, leave the file or never end must fail, and the next
 * query must work.
 */
export const sqlEscapes: Battery = async (target, tally, { isShort }) => {
  const query = async (sql: string): Promise<{ status: string; text: string }> => {
    const response = await target.send('/v1/tools/database.query/invoke', {
      method: 'POST',
      headers: { ...target.credentials['agent'], prefer: 'wait=60' },
      body: { run_id: 'run_sql', args: { sql } },
    });
    const problem = faultProblem(sql, response);
    if (problem !== null) return { status: problem, text: response.text };
    const { status = `HTTP ${response.status}` } = JSON.parse(response.text) as { status?: string };
    return { status, text: response.text };
  };
  // Endless statements run until their time limit, sequentially.
  const statements = isShort ? ESCAPES.filter((sql) => !sql.startsWith('with recursive')) : ESCAPES;
  for (const sql of statements) {
    const { status } = await query(sql);
    const held = status === 'FAILED' || status === 'TIMEOUT' || status.startsWith('HTTP 4');
    tally.record(status, held ? null : `${sql}: ${status}`);
  }
  const after = await query('select 1 as one');
  tally.record(`afterwards ${after.status}`, after.status === 'SUCCEEDED' ? null : `select 1: ${after.text}`);
};
