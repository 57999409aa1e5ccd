import { join } from 'node:path';
import { startNats } from '../../packages/patchboard/test/services/nats.ts';
import { WAIT_MS } from '../arms/bench-pack.ts';
import { startDatabases } from '../databases.ts';
import type { Arm, Figure, FigureOptions, Outcome } from '../figure.ts';
import {
  BUSES,
  CONNECTIONS_PER_SLOT,
  DEVICE_CONNECTIONS,
  DEVICES,
  loadNodes,
  WAKE_UPS,
  type Clusters,
  type NodeRuns,
} from '../loaded-nodes.ts';
import { armOf } from '../measurement.ts';
import { startNodes, type Nodes } from '../nodes.ts';
import { comparePaired, spreadOf } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const SLOTS = 32;
/** Twice the calls per second: two cores are busy with them, and no longer only the slots. */
const MORE_SLOTS = 64;

/** P9, several nodes: two nodes compared with one, and what crosses from one to the other. */
export async function severalNodes({ quick, say }: FigureOptions): Promise<Figure> {
  const options: FigureOptions = { quick, say: (line) => say(`NODES: ${line}`) };
  return await withTemporaryFolder(async (folder) => {
    const databases = await startDatabases();
    const nats = await startNats();
    const started: Nodes[] = [];
    const start = async (name: string, count: number, slots: number, natsUrl?: string): Promise<Nodes> => {
      options.say(`starting ${name}`);
      const place = { folder: join(folder, name), databaseUrl: await databases.create() };
      const nodes = await startNodes(count, slots, {
        ...place,
        ...(natsUrl === undefined ? {} : { natsUrl }),
      });
      started.push(nodes);
      return nodes;
    };
    try {
      const clusters: Clusters = {
        one: await start('one', 1, SLOTS),
        two: {
          NOTIFY: await start('two', 2, SLOTS),
          NATS: await start('two-with-nats', 2, SLOTS, nats.url),
        },
        oneWithMore: await start('one-with-more-slots', 1, MORE_SLOTS),
        twoWithMore: await start('two-with-more-slots', 2, MORE_SLOTS),
      };
      return figureOf(await loadNodes(clusters, options));
    } finally {
      for (const nodes of started) await nodes.stop();
      await nats.close();
      await databases.stop();
    }
  });
}

function figureOf(runs: NodeRuns): Figure {
  return {
    id: 'NODES',
    work: [
      `invoke with Prefer: wait of a tool that waits ${WAIT_MS} ms, ${SLOTS} slots per node, ${CONNECTIONS_PER_SLOT * SLOTS} connections in all: two nodes ÷ one. more slots: ${MORE_SLOTS}.`,
      `offered: two nodes, all requests to one of them. wake-up: ${WAKE_UPS} calls at a time, taken and run by one node and awaited at both; how much`,
      `later the response of the other node comes. device: ${DEVICES} devices at one node; requests there (here) or to the other node (across).`,
    ],
    durability:
      'PostgreSQL, each commit is synced before the response; keeps results, and hash-chained ledger rows in the same transaction',
    outcomes: outcomesOf(runs),
    arms: {
      one: armOf('per second', runs.one),
      two: armOf('per second', runs.two),
      'one, more slots': armOf('per second', runs.oneWithMore),
      'two, more slots': armOf('per second', runs.twoWithMore),
      offered: armOf('per second', runs.offered),
      ...Object.fromEntries(BUSES.flatMap((bus) => wakeUpArms(runs, bus))),
      [`device here, ${DEVICE_CONNECTIONS} connections`]: armOf('per second', runs.deviceHere),
      [`device across, ${DEVICE_CONNECTIONS} connections`]: armOf('per second', runs.deviceAcross),
      'device here, one at a time': armOf('ms', runs.deviceHereAlone.map(meanMs)),
      'device across, one at a time': armOf('ms', runs.deviceAcrossAlone.map(meanMs)),
    },
  };
}

function outcomesOf(runs: NodeRuns): Outcome[] {
  return [
    { name: 'two nodes ÷ one', ...comparePaired(runs.two, runs.one), target: { atLeast: 1.7 } },
    { name: 'two nodes ÷ one, more slots', ...comparePaired(runs.twoWithMore, runs.oneWithMore) },
    ...BUSES.map((bus): Outcome => ({
      name: `wake-up over ${bus}, p99`,
      unit: 'ms',
      ...spreadOf(runs.wakeUps[bus].map(({ p99Ms }) => p99Ms)),
      target: { atMost: 10 },
    })),
    { name: 'offered ÷ one', ...comparePaired(runs.offered, runs.one) },
    {
      name: `device across ÷ here, ${DEVICE_CONNECTIONS} connections`,
      ...comparePaired(runs.deviceAcross, runs.deviceHere),
    },
    {
      name: 'device across ÷ here, one at a time, by time',
      ...comparePaired(runs.deviceHereAlone, runs.deviceAcrossAlone),
    },
  ];
}

function wakeUpArms({ wakeUps }: NodeRuns, bus: (typeof BUSES)[number]): [string, Arm][] {
  const [p50, p99] = [wakeUps[bus].map(({ p50Ms }) => p50Ms), wakeUps[bus].map(({ p99Ms }) => p99Ms)];
  return [
    [`wake-up over ${bus}, p50`, armOf('ms', p50)],
    [`wake-up over ${bus}, p99`, armOf('ms', p99)],
  ];
}

function meanMs(perSecond: number): number {
  return 1000 / perSecond;
}
