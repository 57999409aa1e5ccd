import { expect, it, onTestFinished } from 'vitest';
import { sharedPostgres } from '../../test/services/shared-postgres.ts';
import { connectionOptions } from './connection-options.ts';
import { Connection } from './connection.ts';

it('runs the transactions of one connection one after the other, also after one that failed', async () => {
  const { url } = await sharedPostgres(15);
  const connection = new Connection({ options: connectionOptions(url), name: 'test', prepare: true });
  onTestFinished(() => connection.close());
  const text = 'select txid_current() as id, pg_sleep(0.01)';
  const idsOf = (fails: boolean): Promise<number[]> =>
    connection.transaction(async (transaction) => {
      const ids: number[] = [];
      for (let n = 0; n < 3; n += 1)
        ids.push((await transaction.query<{ id: number }>({ name: 'id', text })).rows[0]!.id);
      if (fails) throw new Error('undone');
      return ids;
    });
  const done = await Promise.allSettled([idsOf(false), idsOf(true), idsOf(false)]);
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const ids = done.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(new Set(ids).size).toBe(2);
});
