import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ECHO_ARGS, ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import type { Seeded, SeedSettings } from '../arms/seed.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import { Connections, postJson } from '../http.ts';
import { comparePaired, median, type Comparison } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CLIENTS = 200;
const TOOLS_PER_CLIENT = 3;

interface Store {
  readonly label: string;
  readonly server: ServerProcess;
  readonly seeded: Seeded;
}

type Operation = (connection: Connections, seeded: Seeded, turn: number) => Promise<void>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  invoke: (connection, _seeded, turn) =>
    connection.post(`/v1/tools/${ECHO_TOOL}/invoke`, { run_id: `run_${turn % 10}`, args: ECHO_ARGS }),
  read: (connection, { sampleIds }, turn) =>
    connection.get(`/v1/tool_calls/${sampleIds[(turn * 37) % sampleIds.length]}`),
  list: (connection) => connection.get('/v1/tool_calls?limit=50'),
  'list of a run': (connection, { sampleRuns }, turn) =>
    connection.get(`/v1/tool_calls?limit=50&run_id=${sampleRuns[(turn * 37) % sampleRuns.length]}`),
  [`tools of ${CLIENTS} clients`]: (connection) => connection.get('/v1/tools'),
};

/** P8: the cost of a full store for common requests. */
export async function storedCalls(options: FigureOptions): Promise<Figure> {
  const sizes = options.quick ? [100, 2000] : [1000, 1_000_000];
  return await withTemporaryFolder(async (folder) => {
    const stores: Store[] = [];
    try {
      for (const size of sizes) stores.push(await prepare(folder, size, options));
      return figureOf(stores, await measure(stores, options));
    } finally {
      for (const { server } of stores) await server.stop();
    }
  });
}

async function prepare(folder: string, calls: number, { say }: FigureOptions): Promise<Store> {
  const label = calls.toLocaleString('en');
  say(`P8: storing ${label} calls`);
  const data = join(folder, String(calls));
  await mkdir(data);
  const seed: SeedSettings = { file: join(data, 'patchboard.db'), calls };
  const seeded = await runScript<Seeded>('./arms/seed.ts', seed);
  const settings: ServerSettings = { folder: data, groupCommit: true, limits: {} };
  const server = await startServer('./arms/patchboard.ts', settings);
  await registerClients(server);
  return { label, server, seeded };
}

async function registerClients(server: ServerProcess): Promise<void> {
  for (let client = 0; client < CLIENTS; client += 1) {
    const tools = Array.from({ length: TOOLS_PER_CLIENT }, (_, index) => ({
      name: `client_${client}.tool_${index}`,
      description: 'A tool that some client lends.',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
    }));
    await postJson(`${server.url}/internal/tools/register`, { client_id: `client_${client}`, tools });
  }
}

async function measure(stores: readonly Store[], { quick, say }: FigureOptions): Promise<Runs> {
  const rounds = quick ? 1 : 9;
  const turns = quick ? 5 : 150;
  const runs: Runs = new Map();
  const connections = stores.map((store) => ({ store, connection: new Connections(store.server.url) }));
  for (let round = -1; round < rounds; round += 1) {
    if (round >= 0) say(`P8: round ${round + 1} of ${rounds}`);
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      for (const { store, connection } of round % 2 === 0 ? connections : connections.toReversed()) {
        const times: number[] = [];
        for (let turn = 0; turn < turns; turn += 1) {
          const began = performance.now();
          await operation(connection, store.seeded, turn);
          times.push(performance.now() - began);
        }
        // The first round is the warm-up.
        if (round >= 0) runsOf(runs, name, store.label).push(median(times));
      }
    }
  }
  for (const { connection } of connections) connection.close();
  return runs;
}

/** Times by operation, then by size. */
type Runs = Map<string, Map<string, number[]>>;

function runsOf(runs: Runs, operation: string, label: string): number[] {
  const bySize = runs.get(operation) ?? new Map<string, number[]>();
  runs.set(operation, bySize);
  const values = bySize.get(label) ?? [];
  bySize.set(label, values);
  return values;
}

function figureOf([small, large]: readonly Store[], runs: Runs): Figure {
  if (small === undefined || large === undefined) throw new Error('two stores are compared');
  const arms: Record<string, Arm> = {};
  const others: Record<string, Comparison> = {};
  for (const name of Object.keys(OPERATIONS)) {
    for (const { label } of [small, large]) {
      const values = runsOf(runs, name, label);
      arms[`${name}, ${label} calls`] = { unit: 'ms', median: median(values), runs: values };
    }
    others[name] = comparePaired(runsOf(runs, name, large.label), runsOf(runs, name, small.label));
  }
  const worst = Object.values(others).reduce((a, b) => (b.ratio > a.ratio ? b : a));
  return {
    id: 'P8',
    work: [
      `Each request alone over HTTP, at ${large.label} stored calls ÷ at ${small.label}; median of each round, the worst operation is the figure.`,
      `${CLIENTS} clients with ${TOOLS_PER_CLIENT} tools each are registered in both.`,
    ],
    target: '≤ 1.5',
    durability: DURABILITY,
    ratio: worst.ratio,
    spread: { min: worst.min, max: worst.max },
    arms,
    others,
  };
}
