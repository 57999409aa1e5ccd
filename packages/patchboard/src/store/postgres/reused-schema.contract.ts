import pg from 'pg';
import { startPgbouncer, type PgbouncerService } from '../../../test/services/pgbouncer.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../../../test/services/shared-postgres.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { digest } from '../samples.contract.ts';
import type { OpenedStore } from '../store.contract.ts';
import { postgresStore, type PostgresStoreOptions } from './open.ts';

/** One schema for all tests of a suite: emptying it takes a tenth of the time of creating it. */
export class ReusedSchema {
  #service: SharedPostgres | null = null;
  #schema = '';
  #admin: pg.Client | null = null;
  #pooler: PgbouncerService | null = null;

  /** `isPooled`: the store connects through a pooler that loses prepared statements. */
  async start(version: 15 | 18, isPooled: boolean): Promise<void> {
    this.#service = await sharedPostgres(version);
    if (isPooled) this.#pooler = await startPgbouncer(this.#service);
    this.#schema = aSchema(this.#service);
    this.#admin = new pg.Client(this.#service.url);
    await this.#admin.connect();
    // The ledger refuses deletes by a trigger.
    await this.#admin.query('set session_replication_role = replica');
  }

  get options(): PostgresStoreOptions & { readonly schema: string; readonly prepare: boolean } {
    return {
      url: this.#pooler?.url ?? this.#service?.url ?? '',
      prepare: this.#pooler === null,
      schema: this.#schema,
      digest,
      now: Date.now,
      firstIdAt: firstCallIdAt,
    };
  }

  async open(): Promise<OpenedStore> {
    const { options } = this;
    let store = await postgresStore(options);
    const reopen = async (): Promise<typeof store> => {
      await store.close();
      store = await postgresStore(options);
      return store;
    };
    const cleanup = async (): Promise<void> => {
      await store.close();
      await this.#empty();
    };
    return { store, reopen, cleanup };
  }

  async stop(): Promise<void> {
    await this.#admin?.end();
    await this.#pooler?.stop();
  }

  async #empty(): Promise<void> {
    const { rows } = await this.#admin!.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = $1 and tablename not in ('meta', 'ledger_head')`,
      [this.#schema],
    );
    const deletes = rows.map(({ name }) => `delete from ${name}`);
    const head = `update ${this.#schema}.ledger_head set seq = 0, hash = decode(repeat('00', 32), 'hex')`;
    await this.#admin?.query([...deletes, head].join('; '));
  }
}

/** Each version, and each kind of connection, has the contracts; not each combination of them. */
export const SERVERS = [
  { name: 'on version 15', version: 15, isPooled: false },
  { name: 'on version 18 through a pooler in transaction mode', version: 18, isPooled: true },
] as const;
