import type { CallView, KeyView, LedgerVerdictView, MintedKeyView } from '@patchboard/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/store/postgres/open.ts';
import type { Finding } from '../../src/cli/database/database-findings.ts';
import { storeOptions } from '../postgres/support/a-postgres-store.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../services/shared-postgres.ts';
import { queryOnce } from '../services/with-client.ts';
import type { Finished } from '../support/run-command.ts';
import { LONG, Workplace } from './cli-process.ts';

const PASSWORD = 'never-shown-7391';

let place: Workplace;
let service: SharedPostgres;
let schema: string;
let url: string;
/** All output of the commands of a test. */
let printed: string;

beforeEach(async () => {
  place = await Workplace.create();
  service = await sharedPostgres(15);
  schema = aSchema(service);
  url = service.url.replace('postgres@', `postgres:${PASSWORD}@`);
  printed = '';
  return () => place.remove();
});

afterEach(() => expect(printed).not.toContain(PASSWORD));

async function run(args: readonly string[], more: Record<string, string> = {}): Promise<Finished> {
  const ended = await place.run(args, more);
  printed += ended.out + ended.error;
  return ended;
}

async function json<T>(args: readonly string[], more: Record<string, string> = {}): Promise<T> {
  const { code, out, error } = await run([...args, '--json'], more);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${error}`);
  return JSON.parse(out) as T;
}

async function sql(text: string): Promise<void> {
  await queryOnce(service.url, text);
}

describe('commands on a database', { timeout: LONG }, () => {
  it('create, list and revoke keys without a server, and not while one holds the store', async () => {
    const at = ['--schema', schema];
    const environment = { DATABASE_URL: url };
    const made = await run(['keys', 'create', '--kind', 'agent', '--name', 'bob', ...at], environment);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^pb_\S+\n$/) as string });
    expect(made.error).toContain(
      `using the database postgres://postgres@127.0.0.1:${service.port}/postgres directly`,
    );
    expect(made.error).not.toContain('local mode');
    const flags = ['--database', url, ...at];
    const { keys } = await json<{ keys: KeyView[] }>(['keys', 'ls', ...flags]);
    expect(keys.map(({ name }) => name)).toEqual(['bob']);

    const server = await postgresStore(storeOptions(service.url, { schema }));
    const refused = await run(['keys', 'revoke', keys[0]!.key_id, ...flags]);
    expect(refused.code).toBe(6);
    expect(refused.error).toContain('is in use by a running server');
    expect((await json<{ keys: KeyView[] }>(['keys', 'ls', ...flags])).keys).toHaveLength(1);
    const verdict = await json<LedgerVerdictView>(['ledger', 'verify', ...flags]);
    expect(verdict).toMatchObject({ ok: true, rows: 1 });
    await server.close();

    const revoked = await run(['keys', 'revoke', keys[0]!.key_id, ...flags]);
    expect(revoked.code).toBe(0);
    expect(revoked.error).not.toContain('ocal mode');
    expect(await json<LedgerVerdictView>(['ledger', 'verify', ...at], environment)).toMatchObject({
      ok: true,
      rows: 2,
    });
    const from = (checkpoint: string): string[] => ['ledger', 'verify', '--from', checkpoint, ...flags];
    const next = await json<LedgerVerdictView>(from(verdict.checkpoint!));
    expect(next).toMatchObject({
      ok: true,
      rows: 1,
      checkpoint: expect.stringMatching(/^2(:[0-9a-f]{64}){2}$/),
    });
    const [seq, hash] = verdict.checkpoint!.split(':');
    const plain = await run(from(`${seq}:${hash}`));
    expect(plain.code).toBe(1);
    expect(plain.out).toContain('BROKEN at row 1: this ledger may have several writers');
    await sql(
      `alter table ${schema}.ledger disable trigger user; update ${schema}.ledger set tenant = 'forged' where no = 1`,
    );
    const broken = await run(['ledger', 'verify', ...flags]);
    expect(broken).toMatchObject({ code: 1, out: 'BROKEN at row 1: the row was changed\n' });
    expect(await run(from(verdict.checkpoint!))).toMatchObject({ code: 1, out: broken.out });
    expect((await run(from(next.checkpoint!))).code).toBe(0);
  });

  it('print the pg_dump line without the password', async () => {
    const shown = `postgres://postgres@127.0.0.1:${service.port}/postgres`;
    const given = ['--database', `${url}?sslmode=prefer`, '--schema', schema];
    const line = await run(['backup', "it's.dump", ...given]);
    expect(line).toMatchObject({
      code: 0,
      out: `pg_dump --format=custom --schema=${schema} '--file=it'\\''s.dump' '--dbname=${shown}?sslmode=prefer'\n`,
    });
    expect(line.error).toBe(
      `${shown}?sslmode=prefer is in PostgreSQL: type this command, which asks for the password:\n`,
    );
    const { command } = await json<{ command: string }>(['backup', 'a.dump'], { DATABASE_URL: url });
    expect(command).toBe(`pg_dump --format=custom --schema=patchboard --file=a.dump --dbname=${shown}`);
  });

  it('refuse two stores, bad URLs, and what PostgreSQL does not have', async () => {
    const cases: [string[], Record<string, string>, string][] = [
      [['ledger', 'verify', '--data', 'x', '--database', url], {}, '--data and --database name two stores'],
      [['backup', 'f', '--data', 'x'], { DATABASE_URL: url }, '--data and DATABASE_URL name two stores'],
      [['keys', 'ls', '--schema', 'x'], {}, '--schema is for PostgreSQL'],
      [['keys', 'ls', '--database', url, '--schema', 'X"; drop'], {}, '--schema must be a name'],
      [['keys', 'ls', '--database', 'mysql://x'], {}, '--database must be a URL such as postgres://'],
      [['data', 'accept-loss'], { DATABASE_URL: url }, 'it has no head file, so there is no loss to accept'],
      [['data', 'allow-local-mode'], { DATABASE_URL: url }, 'a server on PostgreSQL has no local mode'],
      [['data', 'copy', place.folder, url], {}, 'contains no store'],
    ];
    for (const [args, environment, text] of cases) {
      const ended = await run(args, environment);
      expect([args, ended.code]).toEqual([args, 2]);
      expect(ended.error).toContain(text);
    }
    const nowhere = await run(['ledger', 'verify', '--database', `postgres://x:${PASSWORD}@127.0.0.1:9/x`]);
    expect(nowhere.code).toBe(2);
    expect(nowhere.error).toMatch(/^patchboard: postgres:\/\/x@127\.0\.0\.1:9\/x cannot be opened .*\n$/);
  });

  it('are checked by doctor', async () => {
    const { code, out } = await run(['doctor', '--database', url, '--schema', schema, '--json']);
    expect(code).toBe(1);
    const { findings } = JSON.parse(out) as { findings: Finding[] };
    const of = (check: string): Finding | undefined => findings.find((one) => one.check === check);
    expect(of('durability')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('fsync is off') as string,
    });
    for (const check of ['postgres', 'round trip', 'schema', 'privileges', 'pooler', 'clock', 'tls', 'bus'])
      expect(of(check)).toMatchObject({ ok: true });
    const gone = await run(['doctor', '--database', 'postgres://x@127.0.0.1:9/x']);
    expect(gone.out).toContain('FAIL  postgres     postgres://x@127.0.0.1:9/x cannot be opened (');
    const missing = await run(['doctor', '--database', service.urlFor('postgres', 'missing')]);
    expect(missing.out).toContain(
      '(database "missing" does not exist); create the database, or check its name',
    );
  });
});

describe('data copy', { timeout: LONG }, () => {
  it('moves a data folder into a database: keys, calls, ledger and heritage data', async () => {
    const stop = await place.serve();
    const agent = await json<MintedKeyView>(['keys', 'create', '--kind', 'agent', '--name', 'bob']);
    const call = await json<CallView>(['call', 'calculation.eval', 'expression=6*7'], {
      PATCHBOARD_KEY: agent.key,
    });
    const site = await place.write('site.json', JSON.stringify(SITE));
    const scope = ['--tenant', 'acme', '--site', 'old-town'];
    await run(['data', 'import', site, ...scope]);
    const exported = await run(['data', 'export', ...scope]);
    const busy = await run(['data', 'copy', place.data, url, '--schema', schema]);
    expect(busy.error).toContain('is in use by another process');
    await stop();

    const copied = await run(['data', 'copy', place.data, '--schema', schema], { DATABASE_URL: url });
    expect([copied.code, copied.error]).toEqual([0, expect.stringContaining('copied and verified in')]);
    expect(copied.out).toMatch(/^calls +1 +1 +[0-9a-f]{16} +same$/m);
    expect(copied.out).toMatch(/^calls COMPLETED +1 +1 +same$/m);
    expect(copied.out).toMatch(/^ledger +(\d+) +\1 +[0-9a-f]{16} +same$/m);
    expect(copied.out).toMatch(/^heritage sites +1 +1 +[0-9a-f]{16} +same$/m);

    const flags = ['--database', url, '--schema', schema];
    const again = await run(['data', 'copy', place.data, url, '--schema', schema]);
    expect(again.code).toBe(2);
    expect(again.error).toContain('holds data in its schema');
    const { keys } = await json<{ keys: KeyView[] }>(['keys', 'ls', ...flags]);
    expect(keys.map(({ name }) => name)).toEqual(['bob']);
    expect((await json<LedgerVerdictView>(['ledger', 'verify', ...flags])).ok).toBe(true);
    expect(await run(['data', 'export', ...scope, ...flags])).toEqual(exported);
    const text = `select result from ${schema}.ended_calls where id = $1`;
    const rows = await queryOnce(service.url, text, [call.tool_call_id]);
    expect(rows).toEqual([{ result: JSON.stringify(call.result) }]);
  });
});

const SITE = {
  site_name: 'Old town',
  contents: [
    {
      id: 'c1',
      content_type: 'story',
      title: 'The gate',
      body: 'Built in 1600.',
      tags: ['gate'],
      domains: [],
      verified: true,
      status: 'published',
    },
  ],
};
