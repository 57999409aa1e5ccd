import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startProxy } from '../../test/services/proxy.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../../test/services/shared-postgres.ts';
import { byteaArray, int4Array, int8Array, textArray } from './arrays.ts';
import { connectionOptions } from './connection-options.ts';
import { Connection } from './connection.ts';

let service: SharedPostgres;
let connection: Connection;
beforeAll(async () => {
  service = await sharedPostgres(15);
});
beforeEach(() => {
  connection = new Connection({ options: connectionOptions(service.url), name: 'test', prepare: true });
});
afterEach(() => connection.close());

async function one(text: string, values: readonly unknown[] = []): Promise<unknown> {
  const { rows } = await connection.query<{ value: unknown }>({ name: text, text }, values);
  return rows[0]?.value;
}

function blockEventLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('arrays', () => {
  it('arrive as they were given', async () => {
    const texts = ['', 'plain', '天气 "ü" \\ {a,b}', null, '\u{1f600}'];
    expect(await one('select to_json($1::text[]) as value', [textArray(texts)])).toEqual(texts);
    const numbers = [
      0,
      1,
      -1,
      2 ** 31,
      -(2 ** 31) - 1,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      null,
    ];
    expect(await one('select to_json($1::int8[]) as value', [int8Array(numbers)])).toEqual(numbers);
    const small = [0, 7, -7, 2 ** 31 - 1, -(2 ** 31)];
    expect(await one('select to_json($1::int4[]) as value', [int4Array(small)])).toEqual(small);
    const bytes = [Buffer.from([0, 255]), Buffer.alloc(0)];
    expect(await one(`select array_to_string($1::bytea[], ',') as value`, [byteaArray(bytes)])).toBe(
      '\\x00ff,\\x',
    );
  });

  it('may be empty', async () => {
    const empty = [textArray([]), int8Array([]), int4Array([]), byteaArray([])];
    expect(
      await one(
        'select cardinality($1::text[]) + cardinality($2::int8[]) + cardinality($3::int4[]) + cardinality($4::bytea[]) as value',
        empty,
      ),
    ).toBe(0);
  });
});

describe('Connection', () => {
  it('returns bigint columns as numbers, and sets its timeouts', async () => {
    expect(await one('select 9007199254740991::int8 as value')).toBe(Number.MAX_SAFE_INTEGER);
    expect(await one(`select current_setting('idle_in_transaction_session_timeout') as value`)).toBe('2s');
    expect(connection.isPooled).toBe(false);
  });

  it('is made again after the server ended it, and repeats the statement', async () => {
    const before = await one('select pg_backend_pid() as value');
    const other = new Connection({ options: connectionOptions(service.url), name: 'other', prepare: false });
    await other.query({ name: 'end', text: 'select pg_terminate_backend($1)' }, [before]);
    await other.close();
    expect(await one('select pg_backend_pid() as value')).not.toBe(before);
  });

  it('gives up a statement that ends every connection', async () => {
    // A wrong number of parameters is a violation of the protocol, which has the code of a lost connection.
    const wrong = { name: 'wrong', text: 'select 1 as value' };
    await expect(connection.query(wrong, ['one too many'])).rejects.toThrow(/lost 5 times: .*parameter/);
    expect(await one('select 2 as value')).toBe(2);
  });

  it('runs transactions one after the other, and no other statement in them', async () => {
    const schema = aSchema(service);
    await connection.transaction((transaction) =>
      transaction.run(`create schema ${schema}; create table ${schema}.t (n int)`),
    );
    const add = { name: 'add', text: `insert into ${schema}.t values ($1)` };
    const failing = connection.transaction(async (transaction) => {
      await transaction.query(add, [1]);
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('undone');
    });
    const adding = connection.query(add, [2]);
    const succeeding = connection.transaction((transaction) => transaction.query(add, [3]));
    await expect(failing).rejects.toThrow('undone');
    await Promise.all([adding, succeeding]);
    expect(await one(`select array_to_json(array_agg(n order by n)) as value from ${schema}.t`)).toEqual([
      2, 3,
    ]);
  });

  it('is made again if it must write and its session cannot any more', async () => {
    const options = connectionOptions(service.url);
    const writing = new Connection({ options, name: 'writing', prepare: true, target: 'read-write' });
    onTestFinished(() => writing.close());
    const write = { name: 'write', text: 'create temporary table t (n int)' };
    const readOnly = { name: 'read only', text: 'set default_transaction_read_only = on' };
    await writing.query(readOnly);
    expect((await writing.query(write)).rows).toEqual([]);
    await writing.query(readOnly);
    await writing.transaction((transaction) => transaction.query(write));
    await connection.query(readOnly);
    await expect(connection.query({ name: 'drop', text: 'create table public.t (n int)' })).rejects.toThrow(
      /read-only/,
    );
  });

  it('repeats a transaction that was idle for too long with a longer limit', async () => {
    const options = connectionOptions(service.url);
    const settings = { idle_in_transaction_session_timeout: '50ms' };
    const slow = new Connection({ options, name: 'slow', prepare: true, settings });
    onTestFinished(() => slow.close());
    const limit = {
      name: 'limit',
      text: `select current_setting('idle_in_transaction_session_timeout') as value`,
    };
    const limits: unknown[] = [];
    await slow.transaction(async (transaction) => {
      limits.push((await transaction.query(limit)).rows[0]);
      blockEventLoop(200);
      await transaction.query(limit);
    });
    expect(limits).toEqual([{ value: '50ms' }, { value: '2s' }]);
    expect((await slow.query(limit)).rows).toEqual([{ value: '50ms' }]);
  });

  it('is not opened on a read-only database if it must write', async () => {
    const options = connectionOptions(service.url);
    const settings = { default_transaction_read_only: 'on' };
    const reading = new Connection({ options, name: 'reading', prepare: true, settings });
    onTestFinished(() => reading.close());
    expect((await reading.query({ name: 'one', text: 'select 1 as n' })).rows).toEqual([{ n: 1 }]);
    const url = new URL(service.url);
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    const writing = new Connection({
      options: connectionOptions(url.href),
      name: 'writing',
      prepare: true,
      target: 'read-write',
    });
    await expect(writing.open(5000)).rejects.toThrow('the database is read-only, such as a standby');
    await writing.close();
  });

  it('is closed although the server does not close its side', async () => {
    const proxy = await startProxy(service.url);
    onTestFinished(() => proxy.close());
    const options = connectionOptions(proxy.through(service.url));
    const silent = new Connection({ options, name: 'test', prepare: true });
    await silent.open(5000);
    proxy.freeze();
    await silent.close();
    expect(silent.isClosed).toBe(true);
  });

  it('says why it cannot be opened', async () => {
    const options = connectionOptions(service.urlFor('nobody_here', 'postgres'));
    const wrong = new Connection({ options, name: 'test', prepare: true });
    await expect(wrong.open(5000)).rejects.toThrow(/role "nobody_here" does not exist/);
    await wrong.close();
    const nowhere = new Connection({
      options: connectionOptions('postgres://app@127.0.0.1:1/db'),
      name: 'test',
      prepare: true,
    });
    await expect(nowhere.open(10)).rejects.toThrow(/ECONNREFUSED/);
    await nowhere.close();
  });
});
