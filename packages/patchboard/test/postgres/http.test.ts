import { describe, expect, it, onTestFinished } from 'vitest';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { aCall, insertAll } from '../../src/store/samples.contract.ts';
import { aServer, type TestServer } from '../http/support/a-server.ts';
import { echo } from '../http/support/toy-tools.ts';
import { startProxy, type PostgresProxy } from '../services/proxy.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { aPostgresStore, aSession, verifiedRows } from './support/a-postgres-store.ts';

const service = await sharedPostgres(15);
const INVOKE = '/v1/tools/echo/invoke';
const WAIT = { headers: { prefer: 'wait=10' } };
/** With 20 s for a reply, the limit of other connections, requests would fail after 25 s. */
const WITHIN_MS = 24_000;

async function served(store: PostgresStore): Promise<TestServer> {
  const server = await aServer({ store, tools: [echo] });
  onTestFinished(() => server.close());
  return server;
}

async function aProxy(): Promise<PostgresProxy> {
  const proxy = await startProxy(service);
  onTestFinished(() => proxy.close());
  return proxy;
}

describe('over HTTP, on PostgreSQL', () => {
  it('a full disk is 507 while reads go on, and calls work again when there is space', async () => {
    const schema = aSchema(service);
    const store = await aPostgresStore(service.url, { schema });
    const server = await served(store);
    const done = await server.post(INVOKE, { run_id: 'r', args: { n: 1 } }, WAIT);
    expect(done.json).toMatchObject({ status: 'SUCCEEDED' });
    const other = await aSession(service.url);
    await other.query(`
      create function ${schema}.fill() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create trigger full_calls before insert on ${schema}.open_calls execute function ${schema}.fill()`);
    const refused = await server.post(INVOKE, { run_id: 'r' }, WAIT);
    expect(refused.status).toBe(507);
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(refused.json).toMatchObject({
      status: 507,
      code: 'storage_full',
      detail: 'the store has no room; nothing was recorded',
      retryable: true,
    });
    const { tool_call_id: id } = done.json as { tool_call_id: string };
    expect((await server.get(`/v1/tool_calls/${id}`)).json).toMatchObject({ status: 'SUCCEEDED' });
    const listed = await server.get('/v1/tool_calls?run_id=r');
    expect(listed.status).toBe(200);
    expect((listed.json as { tool_calls: unknown[] }).tool_calls).toHaveLength(1);

    await other.query(`drop function ${schema}.fill cascade`);
    expect((await server.post(INVOKE, { run_id: 'r' }, WAIT)).json).toMatchObject({ status: 'SUCCEEDED' });
    await verifiedRows(store);
  });
});

describe('a database that does not reply', () => {
  it(
    'is 503 for requests, which may be repeated, and does not keep a store from being closed',
    { timeout: WITHIN_MS },
    async () => {
      await Promise.all([unavailable(), closed()]);
    },
  );
});

async function unavailable(): Promise<void> {
  const proxy = await aProxy();
  const store = await aPostgresStore(proxy.through(service.url), { schema: aSchema(service) });
  const server = await served(store);
  const done = await server.post(INVOKE, { run_id: 'r' }, WAIT);
  const { tool_call_id: id } = done.json as { tool_call_id: string };
  proxy.freeze();
  const failed = { status: 503, json: { code: 'storage_unavailable', retryable: true } };
  const waiting = [server.post(INVOKE, { run_id: 'r' }), server.get(`/v1/tool_calls/${id}`)];
  for (const response of await Promise.all(waiting)) expect(response).toMatchObject(failed);
  // Not after another 5 s.
  for (let n = 0; n < 10; n += 1) expect(await server.post(INVOKE, { run_id: 'r' })).toMatchObject(failed);
  proxy.pass();
  await expect.poll(() => store.writeProblem()).toBeNull();
  expect((await server.post(INVOKE, { run_id: 'r' }, WAIT)).json).toMatchObject({ status: 'SUCCEEDED' });
  expect((await store.listCalls({ tenant: 'default' }, null, 10)).items).toHaveLength(2);
  await verifiedRows(store);
}

async function closed(): Promise<void> {
  const proxy = await aProxy();
  const store = await aPostgresStore(proxy.through(service.url), { schema: aSchema(service) });
  await insertAll(store, [aCall(1)]);
  proxy.freeze();
  const written = expect(insertAll(store, [aCall(2)])).rejects.toMatchObject({ name: 'StorageUnavailable' });
  await store.close();
  await written;
}
