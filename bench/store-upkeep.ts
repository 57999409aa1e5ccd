import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { indexFileOf } from '../packages/patchboard/src/store/sqlite/search/index-file.ts';
import { storeFileIn } from '../packages/patchboard/src/store/sqlite/store-file.ts';
import type { Upkeep, UpkeepSettings } from './arms/upkeep.ts';
import { runScript } from './child.ts';
import { Connections, downloadBytes } from './http.ts';
import { AS_OPERATOR } from './key.ts';
import type { Measurement } from './measurement.ts';
import { median } from './statistics.ts';
import { invokeOnce, type FilledStore, type StoredCalls } from './stored-calls.ts';

/** Rows at the end of the ledger that are verified alone. */
const LAST_ROWS = 100_000;
const PURGED_AT_ONCE = 1000;
const PURGED = 20_000;
const RETRY_MS = 50;
const MAX_ATTEMPTS = 200;

type Row = Pick<Measurement, 'name' | 'unit'> & { readonly values: readonly number[] };

/** Measures what an operator does while the server runs. */
export async function measureServed({ server, headers }: StoredCalls): Promise<Row[]> {
  const connection = new Connections(server.url);
  try {
    const verifyBegan = performance.now();
    const verdict = JSON.parse(await connection.get('/v1/ledger/verify', AS_OPERATOR)) as { ok: boolean };
    if (!verdict.ok) throw new Error(`the ledger is broken: ${JSON.stringify(verdict)}`);
    const verifySeconds = (performance.now() - verifyBegan) / 1000;
    const backupBegan = performance.now();
    let isDone = false;
    const backup = downloadBytes(`${server.url}/v1/backup`, AS_OPERATOR).finally(() => (isDone = true));
    const invokeMs: number[] = [];
    while (!isDone) {
      invokeMs.push(await timeToReceipt(() => invokeOnce(connection, headers, invokeMs.length)));
    }
    await backup;
    const backupSeconds = (performance.now() - backupBegan) / 1000;
    return [
      { name: 'verify the whole ledger', unit: 's', values: [verifySeconds] },
      { name: 'backup', unit: 's', values: [backupSeconds] },
      { name: 'invoke during the backup, p50', unit: 'ms', values: [median(invokeMs)] },
      { name: 'invoke during the backup, longest', unit: 'ms', values: [Math.max(...invokeMs)] },
    ];
  } finally {
    connection.close();
  }
}

/** A server that is overloaded refuses a call; the caller tries again, and that time counts. */
async function timeToReceipt(invoke: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      await invoke();
      return performance.now() - began;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Measures what happens without a server, after the server of the store was stopped. Removes calls. */
export async function measureUnserved({ place, calls }: FilledStore): Promise<Row[]> {
  const { folder } = place;
  const file = storeFileIn(folder);
  const settings: UpkeepSettings = {
    folder,
    rows: LAST_ROWS,
    purged: Math.min(PURGED, Math.ceil(calls / 10)),
    purgedAtOnce: PURGED_AT_ONCE,
  };
  const [storeBytes, indexBytes] = [file, indexFileOf(file)].map((path) => statSync(path).size);
  const { verifySeconds, purgeMs } = await runScript<Upkeep>('./arms/upkeep.ts', settings);
  return [
    {
      name: `verify the last ${LAST_ROWS.toLocaleString('en')} rows at most`,
      unit: 's',
      values: [verifySeconds],
    },
    {
      name: `purge, ${PURGED_AT_ONCE.toLocaleString('en')} calls at most`,
      unit: 'ms',
      values: purgeMs,
    },
    { name: 'the store', unit: 'GB', values: [(storeBytes ?? 0) / 1e9] },
    { name: 'its index of calls', unit: 'GB', values: [(indexBytes ?? 0) / 1e9] },
  ];
}

/** Joins the rows of several stores, which were measured in the same order. */
export function measurementsOf(
  rowsOfStores: readonly { readonly label: string; readonly rows: readonly Row[] }[],
): Measurement[] {
  const [first] = rowsOfStores;
  return (first?.rows ?? []).map(({ name, unit }, index) => ({
    name,
    unit,
    runs: Object.fromEntries(rowsOfStores.map(({ label, rows }) => [label, rows[index]?.values ?? []])),
  }));
}
