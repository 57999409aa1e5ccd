import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import { digest } from '../samples.contract.ts';
import { durableStoreContract } from '../store.contract.ts';
import { postgresStore } from './open.ts';

for (const version of [15, 18] as const) {
  durableStoreContract(`the PostgreSQL store on version ${version}`, async () => {
    const service = await sharedPostgres(version);
    const schema = aSchema(service);
    const options = {
      url: service.url,
      schema,
      digest,
      now: Date.now,
      firstIdAt: (ms: number) => `tc_${ms}`,
    };
    let store = await postgresStore(options);
    return {
      store,
      reopen: async () => {
        await store.close();
        store = await postgresStore(options);
        return store;
      },
      cleanup: () => store.close(),
    };
  });
}
