import { afterAll, beforeAll } from 'vitest';
import { durableStoreContract } from '../store.contract.ts';
import { ReusedSchema, SERVERS } from './reused-schema.contract.ts';

for (const { name, version, isPooled } of SERVERS) {
  const reused = new ReusedSchema();
  beforeAll(() => reused.start(version, isPooled));
  afterAll(() => reused.stop());
  durableStoreContract(`the PostgreSQL store ${name}`, () => reused.open());
}
