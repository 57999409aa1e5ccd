import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { DURABILITY } from '../arms/open-store.ts';
import type { Figure, FigureOptions, Outcome } from '../figure.ts';
import { armsOf, compareArms, medianRow, type Measurement } from '../measurement.ts';
import { secondsToFirstResult } from '../shipped-server.ts';
import { measurementsOf, measureServed, measureUnserved } from '../store-upkeep.ts';
import {
  CLIENTS,
  fillStore,
  OPERATION_NAMES,
  serveStore,
  timeOperations,
  TOOLS_PER_CLIENT,
  type FilledStore,
  type OperationTimes,
  type StoredCalls,
} from '../stored-calls.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const FEW = 1000;
const DEFAULT_CALLS = 1_000_000;
/** What a call takes on disk, rounded up. */
const STORE_BYTES = 1800;
const INDEX_BYTES = 500;
const STARTS = 3;

/** P8: what a full store costs: common requests, and what an operator does from time to time. */
export async function storedCalls({ quick, calls = DEFAULT_CALLS, say }: FigureOptions): Promise<Figure> {
  const options = { quick, say: (line: string): void => say(`P8: ${line}`) };
  const sizes = quick ? [100, 2000] : [...new Set([FEW, Math.min(calls, DEFAULT_CALLS), calls])];
  return await withTemporaryFolder(async (folder) => {
    await refuseSmallDisk(folder, sizes);
    const stores: FilledStore[] = [];
    for (const size of sizes) {
      const label = size.toLocaleString('en');
      options.say(`storing ${label} calls`);
      stores.push(await fillStore({ folder: join(folder, String(size)) }, size, label));
    }
    const starts = await timeStarts(stores, options);
    const served = await measureServers(stores, options);
    const unserved = [];
    for (const store of stores) {
      options.say(`verifying the end and purging, ${store.label} calls`);
      unserved.push({ label: store.label, rows: await measureUnserved(store) });
    }
    return figureOf(stores, served.operations, [starts, ...served.upkeep, ...measurementsOf(unserved)]);
  });
}

/** All stores exist at the same time, and a backup makes a copy of one. */
async function refuseSmallDisk(folder: string, sizes: readonly number[]): Promise<void> {
  const stored = sizes.reduce((sum, size) => sum + size, 0) * (STORE_BYTES + INDEX_BYTES);
  const needed = stored + Math.max(...sizes) * STORE_BYTES;
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (needed <= free) return;
  const [neededGb, freeGb] = [needed, free].map((bytes) => Math.ceil(bytes / 1e9));
  throw new Error(
    `${folder} has ${freeGb} GB free, and this takes up to ${neededGb} GB: set TMPDIR, or lower --calls`,
  );
}

async function timeStarts(
  stores: readonly FilledStore[],
  { quick, say }: FigureOptions,
): Promise<Measurement> {
  const runs: Record<string, number[]> = {};
  // The first start fills the cache of the file system.
  for (let start = -1; start < (quick ? 1 : STARTS); start += 1) {
    say('starting a server on each store');
    for (const { label, place } of stores) {
      const seconds = await secondsToFirstResult(place.folder);
      if (start >= 0) (runs[label] ??= []).push(seconds);
    }
  }
  return { name: 'start, to the result of a first call', unit: 's', runs };
}

interface Served {
  readonly operations: readonly Measurement[];
  readonly upkeep: readonly Measurement[];
}

async function measureServers(stores: readonly FilledStore[], options: FigureOptions): Promise<Served> {
  const served: StoredCalls[] = [];
  try {
    for (const store of stores) served.push(await serveStore(store));
    const times = await timeOperations(served, options.quick, options.say);
    const upkeep = [];
    for (const store of served) {
      options.say(`verifying and backing up ${store.label} calls`);
      upkeep.push({ label: store.label, rows: await measureServed(store) });
    }
    return { operations: operationsOf(stores, times), upkeep: measurementsOf(upkeep) };
  } finally {
    for (const { server } of served) await server.stop();
  }
}

function operationsOf(stores: readonly FilledStore[], times: OperationTimes): Measurement[] {
  return OPERATION_NAMES.map((name) => ({
    name,
    unit: 'ms',
    runs: Object.fromEntries(stores.map(({ label }) => [label, times.of(name, label)])),
  }));
}

function figureOf(
  stores: readonly FilledStore[],
  operations: readonly Measurement[],
  upkeep: readonly Measurement[],
): Figure {
  const columns = stores.map(({ label }) => label);
  const [few = '', many = ''] = [columns[0], columns.at(-1)];
  const all = [...operations, ...upkeep];
  return {
    id: 'P8',
    work: [
      `Each request alone over HTTP, at ${many} stored calls ÷ at ${few}; median of each round. The index of calls is up to date, and`,
      `${CLIENTS} clients with ${TOOLS_PER_CLIENT} tools each are registered. Below the requests: what an operator does from time to time.`,
    ],
    durability: DURABILITY,
    outcomes: operations.map((measurement): Outcome => ({
      name: measurement.name,
      ...compareArms(measurement, many, few),
      target: { atMost: 1.3 },
    })),
    arms: Object.assign({}, ...all.map(armsOf)),
    sideBySide: { columns, rows: all.map((measurement) => medianRow(measurement, columns)) },
  };
}
