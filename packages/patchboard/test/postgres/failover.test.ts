import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aCall, aRecord, callId, insertAll } from '../../src/store/samples.contract.ts';
import { startPostgres } from '../services/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { aPostgresStore, aSession, verifiedRows } from './support/a-postgres-store.ts';

it('a connection that leads to a standby after a failover is given up: 503 until it leads to a primary again', async () => {
  const service = await startPostgres();
  onTestFinished(() => service.close());
  const store = await aPostgresStore(service.url);
  await insertAll(store, [aCall(1)]);
  await service.stop();
  const signal = join(service.data, 'standby.signal');
  writeFileSync(signal, '');
  onTestFinished(() => rmSync(signal, { force: true }));
  await service.start();

  const unavailable = { name: 'StorageUnavailable', message: expect.stringContaining('read-only') };
  await expect(store.insertCall(aRecord(aCall(2)))).rejects.toMatchObject(unavailable);
  const standby = {
    name: 'StorageUnavailable',
    message: expect.stringContaining('the database is a standby'),
  };
  await expect(store.findCall(callId(1))).rejects.toMatchObject(standby);
  await expect(store.ledgerHead()).rejects.toMatchObject(standby);

  await (await aSession(service.url)).query('select pg_promote()');
  await waitFor(() => expect(store.writeProblem()).toBeNull());
  await waitFor(async () => await insertAll(store, [aCall(3)]));
  expect(await store.findCall(callId(1))).toEqual(aCall(1));
  expect(await verifiedRows(store)).toBe(2);
});
