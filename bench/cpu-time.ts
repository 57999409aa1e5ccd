import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports CPU time in hundredths of a second. */
const TICK_US = 10_000;

/** The name that Node gives to the threads of workers without a name of their own. */
const WORKER_NAME = 'WorkerThread';

/** CPU time of a process in microseconds: user and system time of all threads. */
export function cpuTimeOf(pid: number): number {
  const { own } = timesOf(pid);
  return own;
}

/**
 * CPU time of the worker threads of a Node process, in microseconds. A server of Patchboard writes its index of calls in one,
 * behind the commits.
 */
export function cpuTimeOfWorkers(pid: number): number {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder)
    .filter((thread) => readFileSync(`${folder}/${thread}/comm`, 'utf8').trim() === WORKER_NAME)
    .reduce((sum, thread) => sum + timesIn(`${folder}/${thread}/stat`).own, 0);
}

/** CPU time of a process, of its descendants, and of children that have ended, in microseconds. */
export function cpuTimeOfTree(root: number): number {
  const all = allTimes();
  const total = ({ pid, own, ended }: Times): number =>
    all.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + total(child), own + ended);
  return total(timesOf(root));
}

function allTimes(): Times[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [timesOf(Number(pid))];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

interface Times {
  readonly pid: number;
  readonly parent: number;
  readonly own: number;
  /** Of children that have ended. */
  readonly ended: number;
}

function timesOf(pid: number): Times {
  return timesIn(`/proc/${pid}/stat`);
}

function timesIn(file: string): Times {
  let stat: string;
  try {
    stat = readFileSync(file, 'utf8');
  } catch {
    throw new Error('this figure reads CPU times from /proc, which only Linux has');
  }
  // The process name in parentheses may contain any character; only numbers follow it.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (index: number): number => fields[index] ?? Number.NaN;
  return {
    pid: Number.parseInt(stat, 10),
    parent: at(1),
    own: (at(11) + at(12)) * TICK_US,
    ended: (at(13) + at(14)) * TICK_US,
  };
}
