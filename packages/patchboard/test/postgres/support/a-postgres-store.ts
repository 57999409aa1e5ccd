import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { verifyLedger } from '../../../src/core/ledger/ledger-check.ts';
import type { Store } from '../../../src/core/ports.ts';
import { firstCallIdAt } from '../../../src/runtime/ids.ts';
import { postgresStore, type PostgresStoreOptions } from '../../../src/store/postgres/open.ts';
import type { PostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { digest } from '../../../src/store/samples.contract.ts';

export function storeOptions(url: string, given: Partial<PostgresStoreOptions> = {}): PostgresStoreOptions {
  return { url, digest, now: Date.now, firstIdAt: firstCallIdAt, ...given };
}

/** Closed when the test has ended. */
export async function aPostgresStore(
  url: string,
  given: Partial<PostgresStoreOptions> = {},
): Promise<PostgresStore> {
  const store = await postgresStore(storeOptions(url, given));
  onTestFinished(() => store.close());
  return store;
}

/** A session beside the store; ended with the test. */
export async function aSession(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => undefined); // tests stop the server
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Expects that the chain of the ledger and the calls agree. Returns the number of rows. */
export async function verifiedRows(store: Store): Promise<number> {
  const verdict = await verifyLedger(store, digest);
  expect(verdict).toMatchObject({ ok: true });
  return verdict.rows;
}
