import { join } from 'node:path';
import { ECHO_ARGS, ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import { cpuTimeOf } from '../cpu-time.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import type { Load, LoadSettings } from '../load/generate.ts';
import { comparePaired, median } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONNECTIONS = [50, 8, 1] as const;
const WARM_SECONDS = 10;
const ARMS = ['sdk_handler', 'patchboard'] as const;
type ArmName = (typeof ARMS)[number];

const VERSION = '2026-07-28';

/** Calls per second, and microseconds of the server's CPU time per call. */
interface Measured {
  readonly perSecond: number[];
  readonly cpu: number[];
}

type Runs = Record<ArmName, Map<number, Measured>>;

/** P4: a durable call over MCP compared with the SDK's own handler, which stores nothing. */
export async function mcpCall(options: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => {
    const runs = await measure(folder, options);
    const of = (name: ArmName, connections: number): Measured => {
      const found = runs[name].get(connections);
      if (found === undefined) throw new Error(`${name} was not measured at ${connections} connections`);
      return found;
    };
    const rate = (connections: number): ReturnType<typeof comparePaired> =>
      comparePaired(of('patchboard', connections).perSecond, of('sdk_handler', connections).perSecond);
    const cpu = (connections: number): ReturnType<typeof comparePaired> =>
      comparePaired(of('sdk_handler', connections).cpu, of('patchboard', connections).cpu);
    const at50 = rate(50);
    return {
      id: 'P4',
      work: [
        `POST /mcp, tools/call of ${ECHO_TOOL} (${VERSION}), result in the response, at 50, 8 and 1 connections. Patchboard records the call:`,
        "two synced commits and three ledger rows. sdk_handler is the SDK's createMcpHandler on node:http with the same tool; it stores nothing.",
      ],
      target: '≥ 2.5; by CPU ≥ 3',
      durability: `${DURABILITY} (sdk_handler: nothing is kept)`,
      ratio: at50.ratio,
      spread: { min: at50.min, max: at50.max },
      arms: Object.fromEntries(
        ARMS.flatMap((name) =>
          CONNECTIONS.flatMap((connections) => [
            [`${name} at ${connections}`, arm('per second', of(name, connections).perSecond)],
            [`${name} at ${connections}, CPU`, arm('µs', of(name, connections).cpu)],
          ]),
        ),
      ),
      others: {
        'by CPU at 50': cpu(50),
        'at 8': rate(8),
        'by CPU at 8': cpu(8),
        'at 1': rate(1),
        'by CPU at 1': cpu(1),
      },
    };
  });
}

function arm(unit: Arm['unit'], runs: readonly number[]): Arm {
  return { unit, median: median(runs), runs };
}

async function measure(folder: string, { quick, say }: FigureOptions): Promise<Runs> {
  const empty = (): Map<number, Measured> =>
    new Map(CONNECTIONS.map((connections) => [connections, { perSecond: [], cpu: [] }]));
  const runs: Runs = { sdk_handler: empty(), patchboard: empty() };
  const servers = new Map<ArmName, ServerProcess>();
  try {
    for (const name of ARMS) {
      say(`P4: warming ${name}`);
      const server = await startArm(name, join(folder, name));
      servers.set(name, server);
      await load(server, 50, quick ? 1 : WARM_SECONDS);
    }
    for (let slice = 0; slice < (quick ? 1 : 8); slice += 1) {
      say(`P4: slice ${slice + 1}`);
      for (const connections of CONNECTIONS) {
        for (const [name, server] of servers) {
          const cpuBefore = cpuTimeOf(server.pid);
          const { perSecond, requests } = await load(server, connections, quick ? 1 : 2);
          const measured = runs[name].get(connections);
          measured?.perSecond.push(perSecond);
          measured?.cpu.push((cpuTimeOf(server.pid) - cpuBefore) / requests);
        }
      }
    }
    return runs;
  } finally {
    for (const server of servers.values()) await server.stop();
  }
}

async function startArm(name: ArmName, folder: string): Promise<ServerProcess> {
  if (name === 'sdk_handler') return await startServer('./arms/mcp-sdk.ts', {});
  const settings: ServerSettings = {
    folder,
    groupCommit: true,
    // The tool must not wait for a slot: the call is measured, not the queue.
    limits: { concurrencyServer: 1000, concurrencyPerTenant: 1000 },
  };
  return await startServer('./arms/patchboard.ts', settings);
}

async function load(server: ServerProcess, connections: number, seconds: number): Promise<Load> {
  const settings: LoadSettings = {
    url: `${server.url}/mcp`,
    connections,
    seconds,
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': ECHO_TOOL,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: ECHO_TOOL,
        arguments: ECHO_ARGS,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': VERSION,
          'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
  };
  return await runScript<Load>('./load/generate.ts', settings);
}
