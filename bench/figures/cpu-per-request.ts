import { join } from 'node:path';
import { ECHO_ARGS, ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import { cpuTimeOf } from '../cpu-time.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import type { Load, LoadSettings } from '../load/generate.ts';
import { comparePaired, median } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONNECTIONS = 50;
const WARM_SECONDS = 10;

const ARMS = ['no_store', 'keeps_nothing', 'patchboard'] as const;
type ArmName = (typeof ARMS)[number];

/** The parts of P1 in CPU time, which is meaningful on a busy machine too, unlike requests per second. */
export async function cpuPerRequest({ quick, say }: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => {
    const servers = new Map<ArmName, ServerProcess>();
    const runs: Record<ArmName, number[]> = { no_store: [], keeps_nothing: [], patchboard: [] };
    try {
      for (const name of ARMS) {
        say(`CPU: warming ${name}`);
        const server = await startArm(name, join(folder, name));
        servers.set(name, server);
        await microseconds(server, quick ? 1 : WARM_SECONDS);
      }
      for (let slice = 0; slice < (quick ? 1 : 10); slice += 1) {
        say(`CPU: slice ${slice + 1}`);
        for (const [name, server] of servers) runs[name].push(await microseconds(server, quick ? 1 : 2));
      }
    } finally {
      for (const server of servers.values()) await server.stop();
    }
    return figureOf(runs);
  });
}

function figureOf(runs: Record<ArmName, number[]>): Figure {
  const against = comparePaired(runs.no_store, runs.patchboard);
  const arms = ARMS.map(
    (name) => [name, { unit: 'µs', median: median(runs[name]), runs: runs[name] }] as const,
  );
  return {
    id: 'CPU',
    work: [
      `CPU time of the server process per POST /v1/tools/${ECHO_TOOL}/invoke, ${CONNECTIONS} connections, as in P1.`,
      'no_store is the bare Fastify route; keeps_nothing is the whole server over a store that forgets every call.',
    ],
    target: '≥ 0.80',
    durability: `${DURABILITY} (patchboard only)`,
    ratio: against.ratio,
    spread: { min: against.min, max: against.max },
    arms: Object.fromEntries(arms),
    others: { 'no_store ÷ keeps_nothing': comparePaired(runs.no_store, runs.keeps_nothing) },
  };
}

async function startArm(name: ArmName, folder: string): Promise<ServerProcess> {
  if (name === 'no_store') return await startServer('./arms/no-store.ts', {});
  const settings: ServerSettings = {
    folder,
    groupCommit: true,
    forgetful: name === 'keeps_nothing',
    limits: { concurrencyServer: 1000, concurrencyPerTenant: 1000 },
  };
  return await startServer('./arms/patchboard.ts', settings);
}

async function microseconds(server: ServerProcess, seconds: number): Promise<number> {
  const settings: LoadSettings = {
    url: `${server.url}/v1/tools/${ECHO_TOOL}/invoke`,
    connections: CONNECTIONS,
    seconds,
    args: ECHO_ARGS,
  };
  const before = cpuTimeOf(server.pid);
  const { requests } = await runScript<Load>('./load/generate.ts', settings);
  return (cpuTimeOf(server.pid) - before) / requests;
}
