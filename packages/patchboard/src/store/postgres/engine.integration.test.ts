import { onTestFinished } from 'vitest';
import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import { describeEngineProperty } from '../../core/engine-property.contract.ts';
import { describeEngineRestarts } from '../../core/engine-restart.contract.ts';
import { digest } from '../samples.contract.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { postgresStore } from './open.ts';
import type { PostgresStore } from './postgres-store.ts';

const RUNS = 5;

async function open(): Promise<PostgresStore> {
  const service = await sharedPostgres(18);
  const schema = aSchema(service);
  const store = await postgresStore({
    url: service.url,
    schema,
    digest,
    now: Date.now,
    firstIdAt: firstCallIdAt,
  });
  // Before the schema is dropped: the last hook runs first.
  onTestFinished(() => store.close());
  return store;
}

describeEngineRestarts('PostgreSQL', open);
describeEngineProperty('PostgreSQL', { open, runs: RUNS, isRemote: true });
