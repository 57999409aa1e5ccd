import type { Writable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { sharedPostgres } from '../../test/services/shared-postgres.ts';
import { connectionOptions } from './connection-options.ts';
import { Connection } from './connection.ts';

const NUMBER = { name: 'number', text: 'select $1::int as n' };

it('sends several statements in one write, and returns the rows of each', async () => {
  const { url } = await sharedPostgres(15);
  const connection = new Connection({ options: connectionOptions(url), name: 'test', prepare: true });
  onTestFinished(() => connection.close());
  const client = await connection.client();
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  const writes = [vi.spyOn(stream, '_writev'), vi.spyOn(stream, '_write')];
  const sent = connection.inOneWrite(client, () =>
    [1, 2, 3].map((n) => connection.send<{ n: number }>(client, NUMBER, [n])),
  );
  const rows = (await Promise.all(sent)).flatMap((result) => result.rows);
  expect(rows).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(writes.reduce((count, { mock }) => count + mock.calls.length, 0)).toBe(1);
});
