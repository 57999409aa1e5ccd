import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { startPgbouncer } from './pgbouncer.ts';
import { sharedPostgres } from './shared-postgres.ts';

it('gives transactions to the connections of its pool, and refuses startup parameters unless told to ignore them', async () => {
  const service = await sharedPostgres(15);
  const [strict, lenient] = await Promise.all([
    startPgbouncer(service),
    startPgbouncer(service, { ignoreStartupParameters: ['options'] }),
  ]);
  onTestFinished(() => Promise.all([strict.stop(), lenient.stop()]).then(() => undefined));
  const connect = async (url: string, options?: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url, ...(options === undefined ? {} : { options }) });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  };
  const clients = await Promise.all([1, 2, 3, 4].map(() => connect(strict.url)));
  const seen = await Promise.all(
    clients.map((client) => client.query<{ pid: number }>('select pg_backend_pid() as pid')),
  );
  const pids = new Set(seen.map(({ rows }) => rows[0]?.pid));
  expect(pids.size).toBeLessThanOrEqual(2);
  await expect(connect(strict.url, '-c lock_timeout=1s')).rejects.toThrow(/unsupported startup parameter/);
  const client = await connect(lenient.url, '-c lock_timeout=1s');
  expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
});
