import { expect, it, onTestFinished } from 'vitest';
import type { Call } from '../../../core/call/call.ts';
import { connectionOptions } from '../../../postgres/connection-options.ts';
import { Connection } from '../../../postgres/connection.ts';
import { aCall, askingForInput, completed, insertAll } from '../../samples.contract.ts';
import { sharedStores } from '../shared-stores.contract.ts';
import { BATCH_BYTES, PostgresIndexSource } from './ledger-source.ts';

/** An ended call whose caller gave that much input. */
function withInput(n: number, bytes: number): Call {
  const { inputs } = askingForInput(aCall(n));
  const contentJson = JSON.stringify('x'.repeat(bytes));
  const response = { action: 'accept', contentJson, at: 0 } as const;
  return completed(aCall(n, { inputs: inputs.map((round) => ({ ...round, response })) }));
}

it('ends a batch early if what callers gave as input is large, and leaves no call out', async () => {
  const { open, options, tables } = await sharedStores(15);
  const { store } = await open();
  const connection = new Connection({
    options: connectionOptions(options.url),
    name: 'index',
    prepare: true,
  });
  onTestFinished(() => connection.close());
  const source = new PostgresIndexSource(connection, tables);
  const calls = Array.from({ length: 7 }, (_, n) => withInput(n + 1, BATCH_BYTES / 2));
  await insertAll(store, calls);
  const { seq } = await store.ledgerHead();
  const batches: string[][] = [];
  for (let after = 0; after < seq;) {
    const batch = await source.read(after);
    if (batch === null) throw new Error('the ledger ends early');
    expect(await source.hashAt(batch.to.seq)).toBe(batch.to.hash);
    batches.push(batch.calls.map(({ id }) => id));
    after = batch.to.seq;
  }
  expect(batches.flat()).toEqual(calls.map(({ id }) => id));
  expect(Math.max(...batches.map(({ length }) => length))).toBe(2);
});
