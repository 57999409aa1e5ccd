import { afterAll, beforeAll } from 'vitest';
import { connectionOptions } from '../../../postgres/connection-options.ts';
import { Connection } from '../../../postgres/connection.ts';
import { indexWriterContract } from '../../index-writer.contract.ts';
import { searchContract } from '../../search.contract.ts';
import { ReusedSchema, SERVERS } from '../reused-schema.contract.ts';
import { tablesIn } from '../schema.ts';
import { PostgresCallSearch } from './call-search.ts';
import { PostgresIndexWriter } from './index-writer.ts';
import { PostgresIndexSource } from './ledger-source.ts';

interface Index {
  readonly search: PostgresCallSearch;
  readonly writer: PostgresIndexWriter;
  readonly source: PostgresIndexSource;
  readonly close: () => Promise<void>;
}

let processes = 0;

/** What a process uses of the index, over connections of its own. */
function anIndex({ url, prepare, schema }: ReusedSchema['options']): Index {
  processes += 1;
  const options = connectionOptions(url);
  const connection = new Connection({ options, name: 'index', prepare });
  const reader = new Connection({ options, name: 'search', prepare: false });
  const tables = tablesIn(schema);
  const parts = { connection, schema, tables, now: Date.now };
  return {
    search: new PostgresCallSearch(reader, tables),
    writer: new PostgresIndexWriter({ ...parts, holder: `process ${processes}` }),
    source: new PostgresIndexSource(connection, tables),
    close: async () => void (await Promise.all([connection.close(), reader.close()])),
  };
}

async function applyAll({ writer, source }: Index): Promise<void> {
  let position = await writer.acquireLease();
  for (;;) {
    const batch = position === null ? null : await source.read(position.seq);
    if (batch === null) return;
    if (!(await writer.apply(batch))) throw new Error('a batch was not applied');
    position = batch.to;
  }
}

for (const { name, version, isPooled } of SERVERS) {
  const reused = new ReusedSchema();
  beforeAll(() => reused.start(version, isPooled));
  afterAll(() => reused.stop());

  searchContract(`the PostgreSQL store ${name}`, async () => {
    const { store, cleanup } = await reused.open();
    const index = anIndex(reused.options);
    return {
      store,
      index: async () => {
        // Gives the committed rows their sequence numbers.
        await store.ledgerHead();
        await applyAll(index);
      },
      cleanup: async () => {
        await index.close();
        await cleanup();
      },
    };
  });

  indexWriterContract(`the PostgreSQL store ${name}`, async () => {
    const { cleanup } = await reused.open();
    let index = anIndex(reused.options);
    return {
      search: index.search,
      writer: index.writer,
      reopen: async () => {
        await index.close();
        index = anIndex(reused.options);
        return index;
      },
      cleanup: async () => {
        await index.close();
        await cleanup();
      },
    };
  });
}
