import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import { aCall, anEntry, callId, completed, digest, insertAll } from '../samples.contract.ts';
import { EventPostings } from './event-postings.ts';
import { EventRows } from './event-rows.ts';
import { sqliteStore } from './sqlite-store.ts';

it('returns no row that is not durable yet, for any filter', async () => {
  const file = join(await aFolder(), 'store.db');
  const store = await sqliteStore({ file, digest });
  await store.append([anEntry(), anEntry()]);
  await insertAll(store, [completed(aCall(1))]);
  await store.close();
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = new EventRows(database, new EventPostings(database), () => 4);
  const seqs = (filter: Parameters<EventRows['read']>[0]): unknown => {
    const { rows: found, reached, isEnd } = rows.read(filter, 0, 100);
    return { seqs: found.map(({ row }) => row.seq), reached, isEnd };
  };
  expect(seqs({ tenant: 'acme' })).toEqual({ seqs: [1, 2, 3, 4], reached: 4, isEnd: true });
  expect(seqs({ tenant: 'acme', callId: callId(1) })).toEqual({ seqs: [3, 4], reached: 4, isEnd: true });
  const askedOrRunBy = { agentId: 'agent-1', clientId: null };
  expect(seqs({ tenant: 'acme', askedOrRunBy })).toEqual({ seqs: [1, 2, 3, 4], reached: 4, isEnd: true });
  database.close();
});
