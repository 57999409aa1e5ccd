import { expect, it } from 'vitest';
import { storeOptions } from '../../../test/postgres/support/a-postgres-store.ts';
import { verifyLedger } from '../../core/ledger/ledger-check.ts';
import { aCall, askingForInput, completed, digest, executing, rowsOf } from '../samples.contract.ts';
import { aDatabase } from './a-database.contract.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import { postgresStore } from './open.ts';

it('bring a schema of version 1 forward with its data', async () => {
  const database = await aDatabase(15, 1);
  const { tables, schema, service } = database;
  const begun = executing(aCall(1));
  const waiting = aCall(2, { source: 'client', clientId: 'phone-1' });
  const asking = askingForInput(aCall(3));
  const ended = completed(aCall(4));
  const writer = await database.writer(1);
  await writer.write({ calls: [begun, waiting, asking, ended] });
  await database.rows(`insert into ${tables.documents} values ('key', 'k1', '{}') returning id`);
  await database.rows(
    `insert into ${tables.tools} values ('acme', 'camera.take', 'phone-1', 'camera__take',
      '{"name":"camera.take","schema":{"type":"object"}}', 1760000000000) returning name`,
  );
  await database.rows(`insert into ${tables.meta} values (1, 1, 1, 'the store') returning one`);
  await database.rows(`update ${tables.writers} set state = 'free' returning writer`);

  const store = await postgresStore(storeOptions(service.url, { schema }));
  try {
    expect(await database.rows(`select version, min_reader, store_id from ${tables.meta}`)).toEqual([
      { version: SCHEMA_VERSION, min_reader: expect.any(Number), store_id: 'the store' },
    ]);
    const columns = 'id, deadline_at, client_id, offered';
    expect(await database.rows(`select ${columns} from ${tables.open_calls} order by id`)).toEqual(
      [begun, waiting, asking].map(({ id, state, clientId }) => ({
        id,
        deadline_at: 'deadlineAt' in state ? state.deadlineAt : null,
        client_id: clientId,
        offered: false,
      })),
    );
    for (const call of [begun, waiting, asking, ended]) expect(await store.findCall(call.id)).toEqual(call);
    const done = completed(waiting);
    expect(await store.replaceCall(done, 1, rowsOf(done, 1))).toEqual({ kind: 'replaced' });
    expect(await store.replaceCall(done, 1, rowsOf(done, 1))).toEqual({ kind: 'conflict', current: done });
    expect(await verifyLedger(store, digest)).toMatchObject({ ok: true });
    expect(await store.documents('key')).toEqual([{ id: 'k1', body: '{}' }]);
    expect(await store.tools()).toMatchObject([{ tenant: 'acme', clientId: 'phone-1' }]);
    // What is older than revisions was read at the start of each node.
    expect(await store.changes(0)).toEqual({ revision: 0, documents: [], tools: [] });
    await store.deleteDocument('key', 'k1', []);
    expect(await store.changes(0)).toMatchObject({ revision: 1, documents: [{ id: 'k1', body: null }] });
  } finally {
    await store.close();
  }
});
