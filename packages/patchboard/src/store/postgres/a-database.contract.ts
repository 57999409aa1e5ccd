import { onTestFinished } from 'vitest';
import { aSchema, sharedPostgres, type SharedPostgres } from '../../../test/services/shared-postgres.ts';
import type { PostgresVersion } from '../../../test/services/postgres-binaries.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { Connection } from '../../postgres/connection.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { digest } from '../samples.contract.ts';
import { CallLists } from './call-lists.ts';
import { CallReader } from './call-reader.ts';
import { CallCounts } from './counts.ts';
import { EventReader } from './event-reader.ts';
import { LedgerReader } from './ledger-reader.ts';
import { MIGRATIONS } from './migrations.ts';
import { tablesIn, type Tables } from './schema.ts';
import { Sequencer } from './sequencer.ts';
import { sql, SqlWriter } from './sql-writer.contract.ts';

/** A schema of its own in a server that tests share, with what reads it. */
export class TestDatabase {
  readonly service: SharedPostgres;
  readonly schema: string;
  readonly tables: Tables;
  readonly reader: Connection;
  readonly sequencer: Sequencer;
  readonly calls: CallReader;
  readonly ledger: LedgerReader;
  readonly events: EventReader;
  readonly lists: CallLists;
  readonly counts: CallCounts;

  constructor(service: SharedPostgres, schema: string) {
    this.service = service;
    this.schema = schema;
    this.tables = tablesIn(schema);
    this.reader = this.connect('reader');
    const { tables, reader } = this;
    this.sequencer = new Sequencer({ connection: this.connect('sequencer'), tables, digest });
    const { sequencer } = this;
    this.calls = new CallReader({ reader, tables });
    this.ledger = new LedgerReader({ reader, tables, sequencer, calls: this.calls });
    this.events = new EventReader({ reader, tables, sequencer });
    this.lists = new CallLists({ reader, tables, calls: this.calls, firstIdAt: firstCallIdAt });
    this.counts = new CallCounts({ reader, scanner: reader, tables, sequencer });
  }

  /** Closed when the test has ended. */
  connect(name: string, url: string = this.service.url): Connection {
    const connection = new Connection({ options: connectionOptions(url), name, prepare: true });
    onTestFinished(() => connection.close());
    return connection;
  }

  /** Adds a role that reads and writes, and owns nothing. Returns the address for it. */
  async addRole(): Promise<string> {
    const role = `role_of_${this.schema}`;
    await this.rows(`create role ${role} login`);
    await this.rows(`grant usage on schema ${this.schema} to ${role}`);
    await this.rows(`grant select, insert, update, delete on all tables in schema ${this.schema} to ${role}`);
    const cleanup = this.connect('cleanup');
    onTestFinished(async () => {
      await cleanup.query(sql(`drop owned by ${role}`));
      await cleanup.query(sql(`drop role ${role}`));
      await cleanup.close();
    });
    return this.service.urlFor(role, 'postgres');
  }

  async writer(writer: number): Promise<SqlWriter> {
    return await SqlWriter.add(this.connect(`writer ${writer}`), this.tables, writer);
  }

  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.reader.query<Row>(sql(text), values)).rows;
  }
}

/** Returns the schema of a new store, in a server of that version. `upTo`: the version of the schema. Default: the newest. */
export async function aDatabase(
  version: PostgresVersion,
  upTo: number = MIGRATIONS.length,
): Promise<TestDatabase> {
  const service = await sharedPostgres(version);
  const database = new TestDatabase(service, aSchema(service));
  const setup = database.connect('setup');
  const client = await setup.client();
  const migrations = MIGRATIONS.slice(0, upTo).map((migration) => migration(database.schema));
  await client.query(`create schema "${database.schema}"; ${migrations.join('')}`);
  return database;
}
