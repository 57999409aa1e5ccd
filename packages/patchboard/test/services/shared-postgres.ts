import { randomBytes } from 'node:crypto';
import { afterUse } from '../support/after-use.ts';
import { startPostgres } from './postgres.ts';
import type { PostgresService } from './postgres.ts';
import type { PostgresVersion } from './postgres-binaries.ts';
import { queryOnce } from './with-client.ts';

/** The test files that run in one worker share their modules, so each worker starts at most one server of a version. */
const running = new Map<PostgresVersion, Promise<PostgresService>>();

/** What a test may do with a server that others use too: no stop, no restart. */
export type SharedPostgres = Pick<PostgresService, 'version' | 'port' | 'url' | 'urlFor'>;

/** The server ends with the worker. A test that stops its server starts one of its own. */
export async function sharedPostgres(version: PostgresVersion): Promise<SharedPostgres> {
  const starting = running.get(version) ?? startPostgres({ version });
  running.set(version, starting);
  try {
    return await starting;
  } catch (error) {
    running.delete(version);
    throw error;
  }
}

const LOCK_TIMEOUT_MS = 20_000;

/**
 * Returns the name of a schema that no other test uses. It does not exist yet. It is dropped when the test has ended, or, outside
 * of a test, after the last test of the file or block. The drop fails if a connection still holds a lock in it.
 */
export function aSchema({ url }: Pick<SharedPostgres, 'url'>): string {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const connection = { connectionString: url, lock_timeout: LOCK_TIMEOUT_MS };
  afterUse(() => queryOnce(connection, `drop schema if exists ${name} cascade`));
  return name;
}
