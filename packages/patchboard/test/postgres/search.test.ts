import { describe } from 'vitest';
import { postgresStore } from '../../src/store/postgres/open.ts';
import { describeSearch } from '../http/support/search-suite.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { storeOptions } from './support/a-postgres-store.ts';

const service = await sharedPostgres(15);
const schema = aSchema(service);

describe('over HTTP, on PostgreSQL', () => {
  describeSearch(() => postgresStore(storeOptions(service.url, { schema })));
});
