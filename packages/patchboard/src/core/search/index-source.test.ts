import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { anEntry, digest, insertAll } from '../../store/samples.contract.ts';
import { endedCalls } from '../../store/search-samples.contract.ts';
import type { Call } from '../call/call.ts';
import { LedgerSource } from './index-source.ts';

it('reads a bounded number of rows at once, also if they add nothing, and all of them in the end', async () => {
  const store = memoryStore({ digest });
  const source = new LedgerSource(store);
  const count = 20_000;
  // The calls of these rows were removed.
  const row = anEntry({ kind: 'call.state', callId: 'tc_removed', body: '{"state":"COMPLETED"}' });
  await store.append(Array.from({ length: count }, () => row));
  let after = 0;
  for (let batch = await source.read(0); batch !== null; batch = await source.read(after)) {
    expect(batch.from).toBe(after);
    expect(batch.to.seq - after).toBeLessThanOrEqual(5000);
    expect(batch.to.hash).toBe(await source.hashAt(batch.to.seq));
    after = batch.to.seq;
  }
  expect(after).toBe(count);
});

it('holds one call at a time: the results of a page of them may be larger than the memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const calls = endedCalls(4);
  const store = memoryStore({ digest });
  await insertAll(store, calls);
  const read: WeakRef<Call>[] = [];
  let most = 0;
  const copyOf = async (call: Call | undefined): Promise<Call | undefined> => {
    // A WeakRef keeps its target until the current task ends.
    await turn();
    collect();
    most = Math.max(most, read.filter((ref) => ref.deref() !== undefined).length);
    const copy = call === undefined ? undefined : structuredClone(call);
    if (copy !== undefined) read.push(new WeakRef(copy));
    return copy;
  };
  const source = new LedgerSource({
    ledgerHead: () => store.ledgerHead(),
    readLedger: async (...given) => {
      const rows = await store.readLedger(...given);
      const copied = [];
      for (const { row, call } of rows) copied.push({ row, call: (await copyOf(call ?? undefined)) ?? null });
      return copied;
    },
    findCall: async (id) => await copyOf(await store.findCall(id)),
  });
  const batch = await source.read(0);
  expect(batch?.calls.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  expect(most).toBeLessThanOrEqual(1);
});
