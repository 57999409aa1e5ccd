// The load of P12, in a process of its own: each way of calling the echo is warmed, then measured in slices that alternate.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTimeOf } from '../cpu-time.ts';
import {
  httpOperation,
  invokedOperation,
  mcpOverHttp,
  mcpOverStdio,
  type Caller,
} from './upstream-callers.ts';

export const UPSTREAM_KINDS = ['mcp_http', 'mcp_stdio', 'openapi'] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

interface ServerAddress {
  readonly url: string;
  readonly pid: number;
}

export interface UpstreamLoadSettings {
  readonly patchboard: ServerAddress;
  /** The name of each upstream's echo as a tool of Patchboard. */
  readonly tools: Readonly<Record<UpstreamKind, string>>;
  /** The name of the MCP servers' echo. */
  readonly mcpTool: string;
  readonly mcp: ServerAddress;
  readonly api: ServerAddress;
  /** The command of a server for this process, and the files with the process ids of both stdio servers. */
  readonly stdio: {
    readonly command: readonly string[];
    readonly directPidFile: string;
    readonly patchboardPidFile: string;
  };
  readonly connections: readonly number[];
  readonly warmSeconds: number;
  readonly seconds: number;
  readonly slices: number;
}

export interface UpstreamRuns {
  readonly kind: UpstreamKind;
  readonly isDirect: boolean;
  readonly connections: number;
  readonly perSecond: number[];
  /** Microseconds of CPU time per call, of all processes that take part, this one included. */
  readonly cpu: number[];
  /** The part of Patchboard's process. Empty if the upstream is called directly. */
  readonly patchboardCpu: number[];
}

interface Way {
  readonly kind: UpstreamKind;
  readonly isDirect: boolean;
  readonly caller: Caller;
  readonly upstreamPid: number;
}

/** Time for the upstreams to connect and list their tools. */
const LISTED_MS = 30_000;

if (import.meta.main) {
  const settings = JSON.parse(process.argv[2] ?? '') as UpstreamLoadSettings;
  process.stdout.write(`${JSON.stringify(await run(settings))}\n`);
}

async function run(settings: UpstreamLoadSettings): Promise<UpstreamRuns[]> {
  const ways = await open(settings);
  try {
    for (const way of ways)
      await measure(settings, way, Math.max(...settings.connections), settings.warmSeconds);
    const runs = ways.flatMap((way) =>
      settings.connections.map((connections) => ({ way, runs: emptyRuns(way, connections) })),
    );
    for (let slice = 0; slice < settings.slices; slice += 1) {
      for (const { way, runs: own } of runs.toSorted((a, b) => a.runs.connections - b.runs.connections)) {
        const measured = await measure(settings, way, own.connections, settings.seconds);
        own.perSecond.push(measured.perSecond);
        own.cpu.push(measured.cpu);
        if (!way.isDirect) own.patchboardCpu.push(measured.patchboardCpu);
      }
    }
    return runs.map(({ runs: own }) => own);
  } finally {
    for (const { caller } of ways) await caller.close();
  }
}

/** Direct and indirect calls of one kind follow each other. */
async function open(settings: UpstreamLoadSettings): Promise<Way[]> {
  const { patchboard, tools, mcpTool, mcp, api, stdio } = settings;
  await untilListed(patchboard.url, Object.values(tools));
  const through = async (kind: UpstreamKind): Promise<Caller> =>
    await mcpOverHttp(`${patchboard.url}/mcp`, tools[kind].replaceAll('.', '__'));
  const overStdio = await mcpOverStdio(stdio.command, mcpTool);
  // The client negotiates the version with a process that it ends, and then starts the one that serves calls.
  await overStdio.call(0);
  const [directPid, patchboardPid] = [stdio.directPidFile, stdio.patchboardPidFile].map(pidIn);
  const way = (kind: UpstreamKind, isDirect: boolean, caller: Caller, upstreamPid = 0): Way => ({
    kind,
    isDirect,
    caller,
    upstreamPid,
  });
  return [
    way('mcp_http', true, await mcpOverHttp(`${mcp.url}/mcp`, mcpTool), mcp.pid),
    way('mcp_http', false, await through('mcp_http'), mcp.pid),
    way('mcp_stdio', true, overStdio, directPid),
    way('mcp_stdio', false, await through('mcp_stdio'), patchboardPid),
    way('openapi', true, httpOperation(api.url), api.pid),
    way('openapi', false, invokedOperation(patchboard.url, tools.openapi), api.pid),
  ];
}

async function untilListed(url: string, names: readonly string[]): Promise<void> {
  const until = performance.now() + LISTED_MS;
  for (;;) {
    const response = await fetch(`${url}/v1/tools`);
    const { tools } = (await response.json()) as { tools: { name: string }[] };
    const missing = names.filter((name) => !tools.some((tool) => tool.name === name));
    if (missing.length === 0) return;
    if (performance.now() > until)
      throw new Error(
        `Patchboard does not list ${missing.join(', ')}, only ${tools.map(({ name }) => name).join(', ')}`,
      );
    await sleep(50);
  }
}

function pidIn(file: string): number {
  return Number(readFileSync(file, 'utf8'));
}

function emptyRuns({ kind, isDirect }: Way, connections: number): UpstreamRuns {
  return { kind, isDirect, connections, perSecond: [], cpu: [], patchboardCpu: [] };
}

interface Measured {
  readonly perSecond: number;
  readonly cpu: number;
  readonly patchboardCpu: number;
}

/** A closed loop: each lane sends its next call when it has the response to the last one. */
async function measure(
  { patchboard }: UpstreamLoadSettings,
  { caller, isDirect, upstreamPid }: Way,
  lanes: number,
  seconds: number,
): Promise<Measured> {
  const others = [upstreamPid, ...(isDirect ? [] : [patchboard.pid])];
  const before = others.map(cpuTimeOf);
  const ownBefore = process.cpuUsage();
  const began = performance.now();
  const until = began + seconds * 1000;
  let calls = 0;
  const lane = async (_: unknown, index: number): Promise<void> => {
    while (performance.now() < until) {
      await caller.call(index);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const elapsed = performance.now() - began;
  const { user, system } = process.cpuUsage(ownBefore);
  const [upstream = 0, patchboardCpu = 0] = others.map((pid, index) => cpuTimeOf(pid) - (before[index] ?? 0));
  return {
    perSecond: (calls / elapsed) * 1000,
    cpu: (user + system + upstream + patchboardCpu) / calls,
    patchboardCpu: patchboardCpu / calls,
  };
}
