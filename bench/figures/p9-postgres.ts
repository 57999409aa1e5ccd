import { join } from 'node:path';
import type { Life } from '../arms/lives.ts';
import { contendersOnPostgres, POSTGRES, SQLITE, type Contender } from '../contenders.ts';
import { startDatabases, type Databases } from '../databases.ts';
import type { Figure, FigureOptions, Outcome, SideBySide, Target } from '../figure.ts';
import { measureInTurn } from '../lives-in-turn.ts';
import { loadContenders } from '../loaded-contenders.ts';
import { armsOf, compareArms, medianRow, ratioRow, type Measurement } from '../measurement.ts';
import { GRAPHILE_WORKER } from '../peer-contenders.ts';
import { startRestate } from '../restate.ts';
import { comparePaired } from '../statistics.ts';
import { fillStore, OPERATION_NAMES, serveStore, timeOperations, type StoredCalls } from '../stored-calls.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONCURRENCY = 128;
const CONNECTIONS = 50;
const TARGETS: Readonly<Record<string, Target>> = {
  [GRAPHILE_WORKER]: { atLeast: 10 },
  [SQLITE]: { atLeast: 0.35 },
};

/** P9: Patchboard on PostgreSQL beside SQLite and beside other systems for durable work. */
export async function onPostgres({ quick, say }: FigureOptions): Promise<Figure> {
  const options: FigureOptions = { quick, say: (line) => say(`P9: ${line}`) };
  return await withTemporaryFolder(async (folder) => {
    const databases = await startDatabases();
    try {
      const compared = await compareContenders(folder, databases, options);
      return figureOf(compared, await compareSizes(folder, databases, options));
    } finally {
      await databases.stop();
    }
  });
}

interface Compared {
  readonly arms: readonly Contender[];
  readonly measurements: readonly Measurement[];
}

async function compareContenders(
  folder: string,
  databases: Databases,
  options: FigureOptions,
): Promise<Compared> {
  const restate = await startRestate(join(folder, 'restate'));
  if (restate === null)
    options.say('Restate is left out: there is no package of its server for this platform');
  try {
    const arms = contendersOnPostgres(databases, restate);
    const lives = await measureLives(arms, options);
    const loads = await loadContenders(arms, CONNECTIONS, folder, options);
    return { arms, measurements: [...lives, ...loads] };
  } finally {
    await restate?.stop();
  }
}

async function measureLives(
  arms: readonly Contender[],
  { quick, say }: FigureOptions,
): Promise<readonly Measurement[]> {
  const seconds = quick ? 0.5 : 4;
  const settings = { concurrency: CONCURRENCY, seconds, warmSeconds: seconds };
  const lives = await measureInTurn(arms, settings, quick ? 1 : 5, say);
  const runsOf = (value: (life: Life) => number | undefined): Measurement['runs'] =>
    Object.fromEntries(
      Object.entries(lives)
        .map(([name, values]) => [name, values.flatMap((life) => value(life) ?? [])] as const)
        .filter(([, values]) => values.length > 0),
    );
  const work = 'P2: whole call in one process';
  return [
    {
      name: `${work}, ${CONCURRENCY} at a time`,
      unit: 'per second',
      runs: runsOf(({ perSecond }) => perSecond),
    },
    { name: `${work}, one at a time, p50`, unit: 'ms', runs: runsOf(({ aloneP50Ms }) => aloneP50Ms) },
    { name: 'P2: CPU per call, the process', unit: 'µs', runs: runsOf(({ cpuUs }) => cpuUs) },
    {
      name: 'P2: CPU per call, its index of calls',
      unit: 'µs',
      runs: runsOf(({ workerCpuUs }) => (workerCpuUs > 0 ? workerCpuUs : undefined)),
    },
    {
      name: 'P2: CPU per call, the server that stores',
      unit: 'µs',
      runs: runsOf(({ serverCpuUs }) => serverCpuUs),
    },
  ];
}

/** The times of an operation with few and with many stored calls. */
interface Sizes {
  readonly operation: string;
  readonly few: Measurement;
  readonly many: Measurement;
}

async function compareSizes(
  folder: string,
  databases: Databases,
  { quick, say }: FigureOptions,
): Promise<readonly Sizes[]> {
  const sizes = quick ? [100, 2000] : [1000, 1_000_000];
  const stores: StoredCalls[] = [];
  const labelOf = (arm: string, size: number): string => `${arm} ${size}`;
  try {
    for (const size of sizes) {
      for (const arm of [SQLITE, POSTGRES]) {
        say(`${arm}: storing ${size.toLocaleString('en')} calls`);
        const databaseUrl = arm === POSTGRES ? await databases.create() : null;
        const place = { folder: join(folder, `stored ${labelOf(arm, size)}`) };
        const database = databaseUrl === null ? {} : { databaseUrl };
        const filled = await fillStore({ ...place, ...database }, size, labelOf(arm, size));
        stores.push(await serveStore(filled));
        if (databaseUrl !== null) await databases.vacuum(databaseUrl);
      }
    }
    const times = await timeOperations(stores, quick, say);
    const measured = (operation: string, size: number): Measurement => ({
      name: `P8: ${operation}, ${size.toLocaleString('en')} calls stored`,
      unit: 'ms',
      runs: Object.fromEntries(
        [SQLITE, POSTGRES].map((arm) => [arm, times.of(operation, labelOf(arm, size))]),
      ),
    });
    const [few = 0, many = 0] = sizes;
    return OPERATION_NAMES.map((operation) => ({
      operation,
      few: measured(operation, few),
      many: measured(operation, many),
    }));
  } finally {
    for (const { server } of stores) await server.stop();
  }
}

function figureOf({ arms, measurements }: Compared, sizes: readonly Sizes[]): Figure {
  const columns = arms.map(({ name }) => name);
  const [lives] = measurements;
  if (lives === undefined) throw new Error('nothing was measured');
  const all = [...measurements, ...sizes.flatMap(({ few, many }) => [few, many])];
  return {
    id: 'P9',
    work: [
      `One echo tool, job, workflow of one step or handler of one step, from submission to its stored end. The outcomes are ${POSTGRES} ÷ each other arm in one process.`,
      'All arms on PostgreSQL use the same server, with fsync and synchronous_commit on. Restate is called over HTTP in all rows.',
      'A durable receipt is the response before the result; P8 compares a server with many stored calls with one with few.',
    ],
    durability: arms.map(({ name, durability }) => `${name}: ${durability}`).join('\n'),
    outcomes: [
      ...arms.filter(({ name }) => name !== POSTGRES).map((arm) => outcomeOf(lives, arm)),
      ...sizes.map(sizeOutcome),
    ],
    arms: Object.assign({}, ...all.map(armsOf)),
    sideBySide: { columns, rows: rowsOf(columns, measurements, sizes) },
  };
}

function outcomeOf(lives: Measurement, { name, peer }: Contender): Outcome {
  const target = TARGETS[name];
  return {
    name: `calls per second ÷ ${name}`,
    ...compareArms(lives, POSTGRES, name),
    ...(target === undefined ? {} : { target }),
    ...(peer === undefined ? {} : { peer }),
  };
}

function sizeOutcome({ operation, few, many }: Sizes): Outcome {
  const times = comparePaired(many.runs[POSTGRES] ?? [], few.runs[POSTGRES] ?? []);
  return { name: `P8: ${operation}, many stored calls ÷ few`, ...times, target: { atMost: 1.3 } };
}

function rowsOf(
  columns: readonly string[],
  measurements: readonly Measurement[],
  sizes: readonly Sizes[],
): SideBySide['rows'] {
  return [
    ...measurements.flatMap((measurement) => [
      medianRow(measurement, columns),
      ratioRow(measurement, POSTGRES, columns),
    ]),
    ...sizes.flatMap(({ few, many }) => [
      medianRow(few, columns),
      medianRow(many, columns),
      {
        name: '  many ÷ few',
        cells: columns.map((arm) => {
          const [values, base] = [many.runs[arm], few.runs[arm]];
          return values === undefined || base === undefined ? null : comparePaired(values, base).value;
        }),
      },
    ]),
  ];
}
