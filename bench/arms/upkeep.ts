// What an operator does to a store from time to time, on a data folder that no server uses: verify the end of the ledger, purge old calls.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyLedger } from '../../packages/patchboard/src/core/ledger/ledger-check.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { nodeClock } from '../../packages/patchboard/src/runtime/node-clock.ts';
import { readOnlyStore } from '../../packages/patchboard/src/store/sqlite/read-only.ts';
import { storeFileIn } from '../../packages/patchboard/src/store/sqlite/store-file.ts';
import { startIndexing } from '../../packages/patchboard/src/wiring/call-indexing.ts';
import { openStore } from '../../packages/patchboard/src/wiring/open-store.ts';
import { silentLog } from '../../packages/patchboard/test/support/an-engine.ts';
import { settingsFor } from './bench-settings.ts';

export interface UpkeepSettings {
  readonly folder: string;
  /** Rows at the end of the ledger to verify. */
  readonly rows: number;
  /** Oldest calls to purge, and how many of them at a time. */
  readonly purged: number;
  readonly purgedAtOnce: number;
}

export interface Upkeep {
  readonly verifySeconds: number;
  /** For each time. */
  readonly purgeMs: readonly number[];
}

const settings = JSON.parse(process.argv[2] ?? '') as UpkeepSettings;
const upkeep: Upkeep = { verifySeconds: await verifyEnd(), purgeMs: await purge() };
process.stdout.write(`${JSON.stringify(upkeep)}\n`);

/** Starts from a checkpoint, as `patchboard ledger verify --from` does. */
async function verifyEnd(): Promise<number> {
  const store = readOnlyStore(storeFileIn(settings.folder), nodeDigest);
  try {
    const head = await store.ledgerHead();
    const seq = head.seq - settings.rows;
    const [found] = seq < 1 ? [] : await store.readLedger({}, seq - 1, 1, { withCalls: false });
    const from = found === undefined ? null : { seq, hash: found.row.hash, writers: null };
    const began = performance.now();
    const verdict = await verifyLedger(store, nodeDigest, from);
    if (!verdict.ok) throw new Error(`row ${verdict.seq}: ${verdict.problem}`);
    return (performance.now() - began) / 1000;
  } finally {
    store.close();
  }
}

/** With the index in use, as in a server: calls are removed from it too. */
async function purge(): Promise<number[]> {
  const store = await openStore(settingsFor(settings), silentLog);
  const stopIndexing = startIndexing({ store, clock: nodeClock, log: silentLog }, null);
  const { seq } = await store.ledgerHead();
  while (((await store.search?.position()) ?? seq) < seq) await sleep(50);
  const times: number[] = [];
  for (let left = settings.purged; left > 0; left -= settings.purgedAtOnce) {
    const began = performance.now();
    const count = await store.purgeCalls(nodeClock.now(), Math.min(left, settings.purgedAtOnce));
    times.push(performance.now() - began);
    if (count === 0) throw new Error('there was no call to purge');
  }
  await stopIndexing();
  await store.close();
  return times;
}
