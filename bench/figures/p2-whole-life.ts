import type { Life } from '../arms/lives.ts';
import { patchboardOnSqlite, SQLITE, type Contender } from '../contenders.ts';
import type { Arm, Figure, FigureOptions, Outcome, Target } from '../figure.ts';
import { measureInTurn, type LivesOfArms } from '../lives-in-turn.ts';
import { armOf } from '../measurement.ts';
import { BULLMQ, GRAPHILE_WORKER } from '../peer-contenders.ts';
import { startQueues } from '../queues.ts';
import { comparePaired } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONCURRENCY = 128;
const TARGETS: Readonly<Record<string, Target>> = {
  [BULLMQ]: { atLeast: 3 },
  [GRAPHILE_WORKER]: { atLeast: 10 },
};
/** No slower than a peer that syncs every second. */
const ALONE_TARGETS: Readonly<Record<string, Target>> = { [BULLMQ]: { atMost: 1 } };

/** P2: a durable call of a server tool from submission to result, in one process. */
export async function wholeLife({ quick, say }: FigureOptions): Promise<Figure> {
  const tell = (line: string): void => say(`P2: ${line}`);
  return await withTemporaryFolder(async (folder) => {
    const queues = await startQueues(folder, false, tell);
    try {
      const arms = [patchboardOnSqlite(true), patchboardOnSqlite(false), ...queues.contenders];
      const seconds = quick ? 0.5 : 3;
      const settings = { concurrency: CONCURRENCY, seconds, warmSeconds: quick ? 0.5 : 2 };
      return figureOf(arms, await measureInTurn(arms, settings, quick ? 1 : 6, tell));
    } finally {
      await queues.stop();
    }
  });
}

function figureOf(arms: readonly Contender[], lives: LivesOfArms): Figure {
  const of = (name: string, value: (life: Life) => number): number[] => (lives[name] ?? []).map(value);
  const others = arms.filter(({ name }) => name !== SQLITE);
  const rates = others.map(({ name, peer }): Outcome => {
    const target = TARGETS[name];
    return {
      name: `calls per second ÷ ${name}`,
      ...comparePaired(of(SQLITE, perSecond), of(name, perSecond)),
      ...(target === undefined ? {} : { target }),
      ...(peer === undefined ? {} : { peer }),
    };
  });
  const alone = others.map(({ name }): Outcome => {
    const target = ALONE_TARGETS[name];
    return {
      name: `one at a time, p50 ÷ ${name}`,
      ...comparePaired(of(SQLITE, aloneP50), of(name, aloneP50)),
      ...(target === undefined ? {} : { target }),
    };
  });
  return {
    id: 'P2',
    work: [
      `One process, no HTTP: submit → recorded → executed → ended, ${CONCURRENCY} at a time; alone: one at a time.`,
      `CPU is that of the process per call, without the thread that writes the index of calls, and of the server that stores. ${GRAPHILE_WORKER}`,
      'is tuned; one transaction per change is our own engine without group commit.',
    ],
    durability: arms.map(({ name, durability }) => `${name}: ${durability}`).join('\n'),
    outcomes: [...rates, ...alone],
    arms: Object.assign({}, ...arms.map(({ name }) => armsOf(name, lives[name] ?? []))),
  };
}

function armsOf(name: string, lives: readonly Life[]): Record<string, Arm> {
  const indexCpu = lives.map(({ workerCpuUs }) => workerCpuUs);
  const serverCpu = lives.flatMap(({ serverCpuUs }) => serverCpuUs ?? []);
  return {
    [name]: armOf('per second', lives.map(perSecond)),
    [`${name}, alone p50`]: armOf('ms', lives.map(aloneP50)),
    [`${name}, CPU`]: armOf(
      'µs',
      lives.map(({ cpuUs }) => cpuUs),
    ),
    ...(indexCpu.some((value) => value > 0) ? { [`${name}, CPU of its index`]: armOf('µs', indexCpu) } : {}),
    ...(serverCpu.length > 0 ? { [`${name}, CPU of what stores for it`]: armOf('µs', serverCpu) } : {}),
  };
}

function perSecond(life: Life): number {
  return life.perSecond;
}

function aloneP50(life: Life): number {
  return life.aloneP50Ms;
}
