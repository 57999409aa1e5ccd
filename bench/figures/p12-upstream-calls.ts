import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { changeUpstreamFile } from '../../packages/patchboard/src/settings/upstream-file.ts';
import { ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import type { Arm, Figure, FigureOptions, Outcome } from '../figure.ts';
import { PROTOCOL } from '../load/upstream-callers.ts';
import {
  UPSTREAM_KINDS,
  type UpstreamKind,
  type UpstreamLoadSettings,
  type UpstreamRuns,
} from '../load/upstream-calls.ts';
import { armOf } from '../measurement.ts';
import { comparePaired, type Spread } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const MANY = 50;
const CONNECTIONS = [MANY, 1] as const;
const STDIO_SERVER = fileURLToPath(new URL('../arms/mcp-stdio.ts', import.meta.url));
/** A call must not wait for a slot: the call is measured, not the queue. */
const SLOTS = 1000;
const LABELS: Readonly<Record<UpstreamKind, string>> = {
  mcp_http: 'MCP over HTTP',
  mcp_stdio: 'MCP over stdio',
  openapi: 'OpenAPI',
};

/** P12: a call of an upstream through Patchboard compared with a direct call of the same upstream. */
export async function upstreamCalls(options: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => figureOf(await measure(folder, options)));
}

async function measure(folder: string, { quick, say }: FigureOptions): Promise<UpstreamRuns[]> {
  const started: ServerProcess[] = [];
  const start = async (script: string, settings: unknown): Promise<ServerProcess> => {
    const server = await startServer(script, settings);
    started.push(server);
    return server;
  };
  try {
    say('P12: starting the upstreams and Patchboard');
    const mcp = await start('./arms/mcp-sdk.ts', {});
    const api = await start('./arms/described-api.ts', {});
    const stdio = {
      command: [process.execPath, STDIO_SERVER, join(folder, 'direct.pid')],
      directPidFile: join(folder, 'direct.pid'),
      patchboardPidFile: join(folder, 'patchboard.pid'),
    };
    const data = join(folder, 'patchboard');
    await writeUpstreams(data, mcp.url, api.url, stdio.patchboardPidFile);
    const server: ServerSettings = {
      folder: data,
      groupCommit: true,
      limits: { concurrencyServer: SLOTS, concurrencyPerTenant: SLOTS },
    };
    const patchboard = await start('./arms/patchboard.ts', server);
    const settings: UpstreamLoadSettings = {
      patchboard,
      tools: { mcp_http: `web.${ECHO_TOOL}`, mcp_stdio: `process.${ECHO_TOOL}`, openapi: 'api.echo' },
      mcpTool: ECHO_TOOL,
      mcp,
      api,
      stdio,
      connections: CONNECTIONS,
      warmSeconds: quick ? 0.1 : 1.2,
      seconds: quick ? 0.1 : 0.4,
      slices: quick ? 1 : 5,
    };
    say(`P12: warming, then slices 1 to ${settings.slices}`);
    return await runScript<UpstreamRuns[]>('./load/upstream-calls.ts', settings);
  } finally {
    for (const server of started.toReversed()) await server.stop();
  }
}

async function writeUpstreams(data: string, mcpUrl: string, apiUrl: string, pidFile: string): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  const common = { concurrency: SLOTS };
  await changeUpstreamFile(data, () => ({
    upstreams: {
      web: { url: `${mcpUrl}/mcp`, protocol: PROTOCOL, ...common },
      process: { command: process.execPath, args: [STDIO_SERVER, pidFile], protocol: PROTOCOL, ...common },
    },
    openapi: { api: { description: `${apiUrl}/openapi.json`, server: apiUrl, ...common } },
  }));
}

function figureOf(runs: readonly UpstreamRuns[]): Figure {
  const of = (kind: UpstreamKind, isDirect: boolean, connections: number): UpstreamRuns => {
    const found = runs.find(
      (one) => one.kind === kind && one.isDirect === isDirect && one.connections === connections,
    );
    if (found === undefined) throw new Error(`${kind} was not measured at ${connections} connections`);
    return found;
  };
  const rate = (kind: UpstreamKind, connections: number): Spread =>
    comparePaired(of(kind, false, connections).perSecond, of(kind, true, connections).perSecond);
  const cpu = (kind: UpstreamKind, connections: number): Spread =>
    comparePaired(of(kind, true, connections).cpu, of(kind, false, connections).cpu);
  const outcomes = UPSTREAM_KINDS.flatMap((kind) =>
    CONNECTIONS.flatMap((connections): Outcome[] => [
      { name: `${LABELS[kind]} at ${connections}`, ...rate(kind, connections) },
      { name: `${LABELS[kind]} at ${connections}, by CPU`, ...cpu(kind, connections) },
    ]),
  );
  return {
    id: 'P12',
    work: [
      `An echo called through Patchboard ÷ directly, ${MANY} calls at a time and 1, from one client. mcp: the client of the MCP SDK, ${PROTOCOL},`,
      'calls a server of the SDK over HTTP or stdio, or POST /mcp of Patchboard. openapi: fetch sends the operation, or invokes its tool',
      'with Prefer: wait. CPU is that of all processes that take part. A ratio of 1 means no cost; there is no target.',
    ],
    durability: `${DURABILITY} (direct: nothing is kept)`,
    outcomes,
    arms: Object.fromEntries(runs.flatMap(armsOf)),
  };
}

function armsOf({
  kind,
  isDirect,
  connections,
  perSecond,
  cpu,
  patchboardCpu,
}: UpstreamRuns): [string, Arm][] {
  const name = `${kind}, ${isDirect ? 'direct' : 'patchboard'} at ${connections}`;
  const arms: [string, Arm][] = [
    [name, armOf('per second', perSecond)],
    [`${name}, CPU`, armOf('µs', cpu)],
  ];
  if (!isDirect) arms.push([`${name}, CPU of Patchboard alone`, armOf('µs', patchboardCpu)]);
  return arms;
}
