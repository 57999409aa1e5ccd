import type { Queryable, Statement } from './connection.ts';

/** Each advisory lock has the hash of the schema and a number, and is held until the end of the transaction. */
const SCHEMA: Statement = { name: 'lock_schema', text: 'select pg_advisory_xact_lock(hashtext($1))' };
const WRITERS: Statement = { name: 'lock_writers', text: 'select pg_advisory_xact_lock(hashtext($1), 1)' };
const PARTITIONS: Statement = {
  name: 'lock_partitions',
  text: 'select pg_advisory_xact_lock(hashtext($1), 2)',
};
const PURGE: Statement = {
  name: 'lock_purge',
  text: 'select pg_try_advisory_xact_lock(hashtext($1), 3) as acquired',
};

/** Serializes migrations, of the store and of the heritage data: both may create the schema. */
export async function lockSchema(transaction: Queryable, schema: string): Promise<void> {
  await transaction.query(SCHEMA, [schema]);
}

/** Two processes that start at once must not take the same writer. */
export async function lockWriters(transaction: Queryable, schema: string): Promise<void> {
  await transaction.query(WRITERS, [schema]);
}

/** Serializes the creation and removal of partitions. */
export async function lockPartitions(transaction: Queryable, schema: string): Promise<void> {
  await transaction.query(PARTITIONS, [schema]);
}

/** Returns false, without waiting, while another process deletes calls. */
export async function tryLockPurge(transaction: Queryable, schema: string): Promise<boolean> {
  const { rows } = await transaction.query<{ acquired: boolean }>(PURGE, [schema]);
  return rows[0]?.acquired === true;
}
