import { join } from 'node:path';
import { ECHO_ARGS, ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { startServer, type ServerProcess } from '../child.ts';
import type { Figure, FigureOptions, Outcome } from '../figure.ts';
import { armsOfLoads, loadInTurn, runsOf, type RunsOfArms } from '../loaded-arms.ts';
import { subtractPaired } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONNECTIONS = 50;

/** From the least to the whole: each arm does what the one before it does, and more. */
const ARMS = ['node_http', 'no_store', 'keeps_nothing', 'patchboard'] as const;
type ArmName = (typeof ARMS)[number];

/** The parts of P1 in CPU time, which is meaningful on a busy machine too, unlike requests per second. */
export async function cpuPerRequest({ quick, say }: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => {
    const servers = new Map<ArmName, ServerProcess>();
    try {
      for (const name of ARMS) servers.set(name, await startArm(name, join(folder, name)));
      const arms = [...servers].map(([name, { url, pid }]) => ({
        name,
        pid,
        load: {
          url: `${url}/v1/tools/${ECHO_TOOL}/invoke`,
          connections: CONNECTIONS,
          args: ECHO_ARGS,
        },
      }));
      const plan = quick
        ? { slices: 1, seconds: 1, warmSeconds: 1 }
        : { slices: 10, seconds: 2, warmSeconds: 10 };
      return figureOf(await loadInTurn(arms, plan, (line) => say(`CPU: ${line}`)));
    } finally {
      for (const server of servers.values()) await server.stop();
    }
  });
}

function figureOf(runs: RunsOfArms): Figure {
  const added = (name: string, arm: ArmName, over: ArmName): Outcome => ({
    name,
    unit: 'µs',
    ...subtractPaired(runsOf(runs, arm).cpu, runsOf(runs, over).cpu),
  });
  return {
    id: 'CPU',
    work: [
      `CPU time of the server process per POST /v1/tools/${ECHO_TOOL}/invoke, ${CONNECTIONS} connections, as in P1, and what each layer adds.`,
      'node_http parses and responds without a framework; no_store is the bare Fastify route; keeps_nothing is the whole server over a',
      'store that forgets every call. CPU is that of the process without the thread that writes the index of calls.',
    ],
    durability: `${DURABILITY} (patchboard only)`,
    outcomes: [
      { ...added('the whole server over the bare route', 'patchboard', 'no_store'), target: { atMost: 45 } },
      added('Fastify over node:http', 'no_store', 'node_http'),
      added('APIs, policy and engine over the bare route', 'keeps_nothing', 'no_store'),
      added('the store over one that forgets', 'patchboard', 'keeps_nothing'),
    ],
    arms: armsOfLoads(runs),
  };
}

async function startArm(name: ArmName, folder: string): Promise<ServerProcess> {
  if (name === 'node_http') return await startServer('./arms/node-http.ts', {});
  if (name === 'no_store') return await startServer('./arms/no-store.ts', {});
  const settings: ServerSettings = {
    folder,
    groupCommit: true,
    forgetful: name === 'keeps_nothing',
    limits: { concurrencyServer: 1000, concurrencyPerTenant: 1000 },
  };
  return await startServer('./arms/patchboard.ts', settings);
}
