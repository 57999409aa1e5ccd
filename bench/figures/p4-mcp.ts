import { join } from 'node:path';
import { ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { startServer, type ServerProcess } from '../child.ts';
import type { ComparedPeer, Figure, FigureOptions, Outcome } from '../figure.ts';
import { armsOfLoads, loadInTurn, runsOf, type LoadedArm, type RunsOfArms } from '../loaded-arms.ts';
import { mcpLoad } from '../mcp-load.ts';
import { comparePaired } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const MANY = 50;
const CONNECTIONS = [MANY, 8, 1] as const;
const SDK: ComparedPeer = { name: "MCP SDK's own handler", durability: 'none' };

/** P4: a durable call over MCP compared with the SDK's own handler, which stores nothing. */
export async function mcpCall({ quick, say }: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => {
    const started: ServerProcess[] = [];
    try {
      const sdk = await startServer('./arms/mcp-sdk.ts', {});
      started.push(sdk);
      const settings: ServerSettings = {
        folder: join(folder, 'patchboard'),
        groupCommit: true,
        // The tool must not wait for a slot: the call is measured, not the queue.
        limits: { concurrencyServer: 1000, concurrencyPerTenant: 1000 },
      };
      const patchboard = await startServer('./arms/patchboard.ts', settings);
      started.push(patchboard);
      const arms = CONNECTIONS.flatMap((connections) => [
        calls('sdk_handler', sdk, connections),
        calls('patchboard', patchboard, connections),
      ]);
      const plan = quick
        ? { slices: 1, seconds: 1, warmSeconds: 1 }
        : { slices: 8, seconds: 2, warmSeconds: 5 };
      return figureOf(await loadInTurn(arms, plan, (line) => say(`P4: ${line}`)));
    } finally {
      for (const server of started) await server.stop();
    }
  });
}

function nameOf(arm: 'sdk_handler' | 'patchboard', connections: number): string {
  return `${arm} at ${connections}`;
}

function calls(
  arm: 'sdk_handler' | 'patchboard',
  { url, pid }: ServerProcess,
  connections: number,
): LoadedArm {
  return { name: nameOf(arm, connections), pid, load: mcpLoad(url, connections) };
}

function figureOf(runs: RunsOfArms): Figure {
  const outcomes = CONNECTIONS.flatMap((connections): Outcome[] => {
    const sdk = runsOf(runs, nameOf('sdk_handler', connections));
    const patchboard = runsOf(runs, nameOf('patchboard', connections));
    const isTarget = connections === MANY;
    return [
      {
        name: `calls per second at ${connections}`,
        ...comparePaired(patchboard.perSecond, sdk.perSecond),
        ...(isTarget ? { target: { atLeast: 2.5 }, peer: SDK } : {}),
      },
      {
        name: `by CPU at ${connections}`,
        ...comparePaired(sdk.cpu, patchboard.cpu),
        ...(isTarget ? { target: { atLeast: 3 } } : {}),
      },
    ];
  });
  return {
    id: 'P4',
    work: [
      `POST /mcp, tools/call of ${ECHO_TOOL} (2026-07-28), result in the response, at ${CONNECTIONS.join(', ')} connections. Patchboard records the call:`,
      "two synced commits and three ledger rows. sdk_handler is the SDK's createMcpHandler on node:http with the same tool; it stores nothing.",
      'CPU is that of the process per call, without the thread that writes the index of calls.',
    ],
    durability: `${DURABILITY} (sdk_handler: nothing is kept)`,
    outcomes,
    arms: armsOfLoads(runs),
  };
}
