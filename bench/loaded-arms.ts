import { runScript } from './child.ts';
import { cpuTimeOf, cpuTimeOfTree, cpuTimeOfWorkers } from './cpu-time.ts';
import type { Arm } from './figure.ts';
import type { Load, LoadSettings } from './load/generate.ts';
import { armOf } from './measurement.ts';
import { untilIdle } from './until-idle.ts';

/** A server under load. */
export interface LoadedArm {
  readonly name: string;
  readonly pid: number;
  /** The process that stores for it, if that is another one. Its descendants count too. */
  readonly storePid?: number;
  readonly load: Omit<LoadSettings, 'seconds'>;
}

export interface LoadPlan {
  readonly slices: number;
  readonly seconds: number;
  readonly warmSeconds: number;
}

/** Slice by slice. CPU time is in microseconds per request. */
export interface ArmRuns {
  readonly perSecond: number[];
  /** Of the server's process during the load, without its worker threads. */
  readonly cpu: number[];
  /** Of its worker threads, until they have done what the load left to them. */
  readonly workerCpu: number[];
  /** Of the process that stores, during the load. Empty if there is none. */
  readonly storeCpu: number[];
}

export type RunsOfArms = ReadonlyMap<string, ArmRuns>;

/** Warms each arm, then loads them in turn, slice by slice. */
export async function loadInTurn(
  arms: readonly LoadedArm[],
  { slices, seconds, warmSeconds }: LoadPlan,
  say: (line: string) => void,
): Promise<RunsOfArms> {
  const runs = new Map(arms.map(({ name }) => [name, emptyRuns()] as const));
  for (const arm of arms) {
    say(`warming ${arm.name}`);
    await loadOnce(arm, warmSeconds, emptyRuns());
  }
  for (let slice = 0; slice < slices; slice += 1) {
    say(`slice ${slice + 1} of ${slices}`);
    for (const arm of rotated(arms, slice)) await loadOnce(arm, seconds, runsOf(runs, arm.name));
  }
  return runs;
}

export function runsOf(runs: RunsOfArms, name: string): ArmRuns {
  const found = runs.get(name);
  if (found === undefined) throw new Error(`${name} was not measured`);
  return found;
}

/** Throughput, and beside it the CPU time per request. */
export function armsOfLoads(runs: RunsOfArms): Record<string, Arm> {
  const arms = [...runs].flatMap(([name, { perSecond, cpu, workerCpu, storeCpu }]) => [
    [name, armOf('per second', perSecond)] as const,
    [`${name}, CPU`, armOf('µs', cpu)] as const,
    ...(workerCpu.some((value) => value > 0)
      ? [[`${name}, CPU of its index`, armOf('µs', workerCpu)] as const]
      : []),
    ...(storeCpu.length > 0 ? [[`${name}, CPU of what stores for it`, armOf('µs', storeCpu)] as const] : []),
  ]);
  return Object.fromEntries(arms);
}

async function loadOnce({ pid, storePid, load }: LoadedArm, seconds: number, into: ArmRuns): Promise<void> {
  const settings: LoadSettings = { ...load, seconds };
  const [workersBefore, before] = [cpuTimeOfWorkers(pid), cpuTimeOf(pid)];
  const storeBefore = storePid === undefined ? 0 : cpuTimeOfTree(storePid);
  const { perSecond, requests } = await runScript<Load>('./load/generate.ts', settings);
  const workers = cpuTimeOfWorkers(pid) - workersBefore;
  into.perSecond.push(perSecond);
  into.cpu.push((cpuTimeOf(pid) - before - workers) / requests);
  if (storePid !== undefined) into.storeCpu.push((cpuTimeOfTree(storePid) - storeBefore) / requests);
  await untilIdle(pid);
  into.workerCpu.push((cpuTimeOfWorkers(pid) - workersBefore) / requests);
}

/** Each slice starts with a different arm, because the order affects the result. */
function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

function emptyRuns(): ArmRuns {
  return { perSecond: [], cpu: [], workerCpu: [], storeCpu: [] };
}
