import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ECHO_ARGS, ECHO_TOOL } from './arms/bench-pack.ts';
import type { ServerSettings } from './arms/patchboard.ts';
import type { Seeded, SeedSettings } from './arms/seed.ts';
import { runScript, startServer, type ServerProcess } from './child.ts';
import { Connections, postJson } from './http.ts';
import { median } from './statistics.ts';

export const CLIENTS = 200;
export const TOOLS_PER_CLIENT = 3;

/** A server whose store holds a number of ended calls. */
export interface StoredCalls {
  readonly label: string;
  readonly server: ServerProcess;
  readonly seeded: Seeded;
}

export interface StorePlace {
  readonly folder: string;
  /** PostgreSQL. Default: SQLite in `folder`. */
  readonly databaseUrl?: string;
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

export const OPERATION_NAMES: readonly string[] = Object.keys(OPERATIONS);

/** Fills a store with ended calls and starts a server on it. */
export async function storeCalls(place: StorePlace, calls: number, label: string): Promise<StoredCalls> {
  await mkdir(place.folder, { recursive: true });
  const seed: SeedSettings = { ...place, file: join(place.folder, 'patchboard.db'), calls };
  const seeded = await runScript<Seeded>('./arms/seed.ts', seed);
  const settings: ServerSettings = { ...place, groupCommit: true, limits: {} };
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

/** Median times of each round in ms, by operation and label. */
export interface OperationTimes {
  of(operation: string, label: string): readonly number[];
}

export async function timeOperations(
  stores: readonly StoredCalls[],
  quick: boolean,
  say: (line: string) => void,
): Promise<OperationTimes> {
  const rounds = quick ? 1 : 9;
  const turns = quick ? 5 : 150;
  const times = new Map<string, number[]>();
  const of = (operation: string, label: string): number[] => {
    const key = `${operation} ${label}`;
    const values = times.get(key) ?? [];
    times.set(key, values);
    return values;
  };
  const connections = stores.map((store) => ({ store, connection: new Connections(store.server.url) }));
  // The first round is the warm-up.
  for (let round = -1; round < rounds; round += 1) {
    if (round >= 0) say(`round ${round + 1} of ${rounds}`);
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      for (const { store, connection } of round % 2 === 0 ? connections : connections.toReversed()) {
        const time = await medianTime(turns, (turn) => operation(connection, store.seeded, turn));
        if (round >= 0) of(name, store.label).push(time);
      }
    }
  }
  for (const { connection } of connections) connection.close();
  return { of };
}

async function medianTime(turns: number, work: (turn: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const began = performance.now();
    await work(turn);
    times.push(performance.now() - began);
  }
  return median(times);
}
