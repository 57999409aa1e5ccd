import pg from 'pg';
import { startPostgres } from '../packages/patchboard/test/services/postgres.ts';

/** A separate PostgreSQL server whose commits wait for fsync, with a database for each measurement. */
export interface Databases {
  readonly pid: number;
  /** Creates an empty database for the duration of `use`. */
  withDatabase<T>(use: (url: string) => Promise<T>): Promise<T>;
  /** Creates an empty database, which ends with the server. */
  create(): Promise<string>;
  /** Does at once what autovacuum does some time after many rows were written. */
  vacuum(url: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startDatabases(): Promise<Databases> {
  const server = await startPostgres({ durable: true });
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  let created = 0;
  const create = async (): Promise<string> => {
    created += 1;
    await admin.query(`create database bench_${created}`);
    return server.urlFor('postgres', `bench_${created}`);
  };
  const file = await admin.query<{ text: string }>(`select pg_read_file('postmaster.pid') as text`);
  return {
    pid: Number.parseInt(file.rows[0]?.text ?? '', 10),
    create,
    withDatabase: async (use) => {
      const url = await create();
      try {
        return await use(url);
      } finally {
        await admin.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
      }
    },
    vacuum: async (url) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('vacuum (analyze)');
      await client.end();
    },
    stop: async () => {
      await admin.end();
      await server.close();
    },
  };
}
