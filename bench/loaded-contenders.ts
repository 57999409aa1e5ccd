import { join } from 'node:path';
import { ECHO_ARGS } from './arms/bench-pack.ts';
import type { Contender, EchoServer } from './contenders.ts';
import type { FigureOptions } from './figure.ts';
import { loadInTurn, runsOf, type ArmRuns, type LoadedArm } from './loaded-arms.ts';
import type { Measurement } from './measurement.ts';

/** Longer than any response takes. */
const WAIT = { prefer: 'wait=30' };

/** Requests per second to a server of each contender, slice by slice, and the CPU time beside it. */
export async function loadContenders(
  contenders: readonly Contender[],
  connections: number,
  folder: string,
  { quick, say }: FigureOptions,
): Promise<readonly Measurement[]> {
  const started: EchoServer[] = [];
  try {
    const arms: LoadedArm[] = [];
    for (const contender of contenders) {
      const { name, storePid, hasReceipts } = contender;
      const server = await contender.serve(join(folder, name), connections * 4);
      started.push(server);
      const { url, pid, headers } = server;
      const common = { pid, ...(storePid === undefined ? {} : { storePid }) };
      const load = { url, connections, args: ECHO_ARGS };
      arms.push({ ...common, name, load: { ...load, headers: { ...headers, ...WAIT } } });
      if (hasReceipts) arms.push({ ...common, name: receiptOf(name), load: { ...load, headers } });
    }
    const plan = quick
      ? { slices: 1, seconds: 1, warmSeconds: 1 }
      : { slices: 6, seconds: 3, warmSeconds: 8 };
    const runs = await loadInTurn(arms, plan, (line) => say(`HTTP, ${line}`));
    return measurementsOf(contenders, connections, (name) => runsOf(runs, name));
  } finally {
    for (const server of started) await server.stop();
  }
}

function receiptOf(contender: string): string {
  return `${contender}, receipt`;
}

function measurementsOf(
  contenders: readonly Contender[],
  connections: number,
  of: (arm: string) => ArmRuns,
): Measurement[] {
  const whole = `P1: whole call over HTTP, ${connections} connections`;
  const runs = (value: (name: string) => readonly number[] | null): Measurement['runs'] =>
    Object.fromEntries(
      contenders.flatMap(({ name }) => {
        const values = value(name);
        return values === null || values.length === 0 ? [] : [[name, values] as const];
      }),
    );
  const receipts = new Set(contenders.filter(({ hasReceipts }) => hasReceipts).map(({ name }) => name));
  return [
    { name: whole, unit: 'per second', runs: runs((name) => of(name).perSecond) },
    { name: 'P1: CPU per call, the process', unit: 'µs', runs: runs((name) => of(name).cpu) },
    {
      name: 'P1: CPU per call, the server that stores',
      unit: 'µs',
      runs: runs((name) => of(name).storeCpu),
    },
    {
      name: `P1: durable receipt over HTTP, ${connections} connections`,
      unit: 'per second',
      runs: runs((name) => (receipts.has(name) ? of(receiptOf(name)).perSecond : null)),
    },
  ];
}
