import { join } from 'node:path';
import { DURABILITY } from '../arms/open-store.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import { comparePaired, median, type Comparison } from '../statistics.ts';
import {
  CLIENTS,
  OPERATION_NAMES,
  storeCalls,
  timeOperations,
  TOOLS_PER_CLIENT,
  type OperationTimes,
  type StoredCalls,
} from '../stored-calls.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

/** P8: the cost of a full store for common requests. */
export async function storedCalls({ quick, say }: FigureOptions): Promise<Figure> {
  const sizes = quick ? [100, 2000] : [1000, 1_000_000];
  return await withTemporaryFolder(async (folder) => {
    const stores: StoredCalls[] = [];
    try {
      for (const size of sizes) {
        const label = size.toLocaleString('en');
        say(`P8: storing ${label} calls`);
        stores.push(await storeCalls({ folder: join(folder, String(size)) }, size, label));
      }
      return figureOf(stores, await timeOperations(stores, quick, (line) => say(`P8: ${line}`)));
    } finally {
      for (const { server } of stores) await server.stop();
    }
  });
}

function figureOf([small, large]: readonly StoredCalls[], times: OperationTimes): Figure {
  if (small === undefined || large === undefined) throw new Error('two stores are compared');
  const arms: Record<string, Arm> = {};
  const others: Record<string, Comparison> = {};
  for (const name of OPERATION_NAMES) {
    for (const { label } of [small, large]) {
      const values = times.of(name, label);
      arms[`${name}, ${label} calls`] = { unit: 'ms', median: median(values), runs: values };
    }
    others[name] = comparePaired(times.of(name, large.label), times.of(name, small.label));
  }
  const worst = Object.values(others).reduce((a, b) => (b.ratio > a.ratio ? b : a));
  return {
    id: 'P8',
    work: [
      `Each request alone over HTTP, at ${large.label} stored calls ÷ at ${small.label}; median of each round, the worst operation is the figure.`,
      `${CLIENTS} clients with ${TOOLS_PER_CLIENT} tools each are registered in both.`,
    ],
    target: '≤ 1.5',
    durability: DURABILITY,
    ratio: worst.ratio,
    spread: { min: worst.min, max: worst.max },
    arms,
    others,
  };
}
