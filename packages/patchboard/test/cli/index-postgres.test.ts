import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../src/cli/database/database-findings.ts';
import type { Store } from '../../src/core/ports.ts';
import { YANTIAN } from '../../src/packs/heritage/sample/yantian.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { insertAll } from '../../src/store/samples.contract.ts';
import { endedCalls, FIRST_HOUR } from '../../src/store/search-samples.contract.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { aPostgresStore, aSession } from '../postgres/support/a-postgres-store.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../services/shared-postgres.ts';
import { aFolder } from '../support/a-folder.ts';
import { runCli, type Ended } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

const CALLS = endedCalls(60).map((call) => ({ ...call, tenant: 'acme' }));
const OLDEST = { by: 'created', isAscending: true } as const;

let service: SharedPostgres;
let schema: string;
let folder: string;

beforeEach(async () => {
  service = await sharedPostgres(15);
  schema = aSchema(service);
  folder = await aFolder();
});

function run(args: readonly string[], url = service.url): Promise<Ended> {
  const environment = { PATCHBOARD_DATA: join(folder, 'data') };
  return runCli([...args, '--database', url, '--schema', schema], environment);
}

/** A store whose index is written until the test has ended. */
async function anIndexedStore(): Promise<PostgresStore> {
  const store = await aPostgresStore(service.url, { schema });
  store.startIndex(null);
  return store;
}

async function indexed(store: Store): Promise<unknown> {
  const { seq } = await store.ledgerHead();
  await waitFor(async () => expect(await store.search?.position()).toBe(seq));
  const days = { tenant: 'acme', since: 0, until: FIRST_HOUR + 48 * 3_600_000, stepMs: 86_400_000 };
  return {
    oslo: await store.search?.find({ tenant: 'acme', texts: ['oslo'] }, OLDEST, null, 100),
    all: (await store.search?.find({ tenant: 'acme' }, OLDEST, null, 100))?.map(({ id }) => id),
    metrics: await store.search?.metrics({ ...days, by: 'tool' }, 10),
  };
}

async function privileges(url?: string): Promise<Finding | undefined> {
  const { out } = await run(['doctor', '--json'], url);
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  expect(findings.find(({ check }) => check === 'schema')).toMatchObject({ ok: true });
  return findings.find(({ check }) => check === 'privileges');
}

describe('commands on a database with an index of calls', () => {
  it('doctor finds it in order while it is written, and names a table that the role may not write', async () => {
    const store = await anIndexedStore();
    await insertAll(store, CALLS);
    await indexed(store);
    expect(await privileges()).toMatchObject({ ok: true });

    const session = await aSession(service.url);
    const role = `${schema}_plain`;
    await session.query(`create role ${role} login; grant usage on schema ${schema} to ${role};
      grant select, insert, update, delete on all tables in schema ${schema} to ${role}`);
    onTestFinished(async () => void (await session.query(`drop owned by ${role}; drop role ${role}`)));
    const url = service.urlFor(role, 'postgres');
    expect(await privileges(url)).toMatchObject({ ok: true });
    await session.query(`revoke insert on ${schema}.indexed_calls from ${role}`);
    expect(await privileges(url)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('indexed_calls') as string,
    });
  });

  it('import and export of site data leave it as it is, and it goes on afterwards', async () => {
    const store = await anIndexedStore();
    await insertAll(store, CALLS.slice(0, 30));
    const before = await indexed(store);
    const file = join(folder, 'village.json');
    await writeFile(file, JSON.stringify(YANTIAN));
    const site = ['--tenant', 'acme', '--site', 'old-town'];
    expect(await run(['data', 'import', file, ...site])).toMatchObject({ code: 0 });
    const out = join(folder, 'exported.json');
    expect(await run(['data', 'export', ...site, '--out', out])).toMatchObject({ code: 0 });
    const exported = JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;
    expect(exported).toMatchObject({ contents: YANTIAN.contents });
    expect(await indexed(store)).toEqual(before);
    await insertAll(store, CALLS.slice(30));
    expect(await indexed(store)).toMatchObject({ all: CALLS.map(({ id }) => id) });
  });

  it('copy of a data folder leaves the indexes out, and the next server makes one', async () => {
    // A server was started on the database before, so that the state of an index is there.
    const first = await anIndexedStore();
    await waitFor(async () => expect(await indexStates()).toBe(1));
    await first.close();

    const data = join(folder, 'data');
    await mkdir(data, { mode: 0o700 });
    const source = await sqliteStore({ file: join(data, 'patchboard.db'), digest: nodeDigest });
    await insertAll(source, CALLS);
    await source.close();
    const copied = await runCli(['data', 'copy', data, service.url, '--schema', schema], {});
    expect([copied.code, copied.out]).toEqual([0, expect.stringMatching(/^calls +60 +60 .* same$/m)]);
    expect(copied.out).not.toContain('indexed');

    const store = await anIndexedStore();
    const made = (await indexed(store)) as { oslo: readonly unknown[] };
    expect(made).toMatchObject({ all: CALLS.map(({ id }) => id) });
    expect(made.oslo).toHaveLength(15);
    expect(await run(['ledger', 'verify'])).toMatchObject({ code: 0 });
  });
});

async function indexStates(): Promise<number | undefined> {
  const session = await aSession(service.url);
  const text = `select count(*)::int as states from ${schema}.index_state`;
  return (await session.query<{ states: number }>(text)).rows[0]?.states;
}
