import { mkdir } from 'node:fs/promises';
import { ECHO_ARGS, ECHO_TOOL } from './arms/bench-pack.ts';
import type { StorePlace } from './arms/bench-settings.ts';
import type { ServerSettings } from './arms/patchboard.ts';
import type { Seeded, SeedSettings } from './arms/seed.ts';
import { runScript, startServer, type ServerProcess } from './child.ts';
import { Connections, postJson, type Headers } from './http.ts';
import { AS_OPERATOR, createKey } from './key.ts';
import { median } from './statistics.ts';

export const CLIENTS = 200;
export const TOOLS_PER_CLIENT = 3;

/** A server whose store holds a number of ended calls. */
export interface StoredCalls {
  readonly label: string;
  readonly server: ServerProcess;
  readonly seeded: Seeded;
  readonly headers: Headers;
}

interface Target {
  readonly connection: Connections;
  readonly seeded: Seeded;
  readonly headers: Headers;
}

type Operation = (target: Target, turn: number) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  invoke: ({ connection, headers }, turn) => {
    const body = { run_id: `run_${turn % 10}`, args: ECHO_ARGS };
    return connection.post(`/v1/tools/${ECHO_TOOL}/invoke`, body, headers);
  },
  read: ({ connection, seeded, headers }, turn) =>
    connection.get(`/v1/tool_calls/${sampleOf(seeded.sampleIds, turn)}`, headers),
  list: ({ connection, headers }) => connection.get('/v1/tool_calls?limit=50', headers),
  'list of a run': ({ connection, seeded, headers }, turn) =>
    connection.get(`/v1/tool_calls?limit=50&run_id=${sampleOf(seeded.sampleRuns, turn)}`, headers),
  [`tools of ${CLIENTS} clients`]: ({ connection, headers }) => connection.get('/v1/tools', headers),
};

function sampleOf(samples: readonly string[], turn: number): string {
  return samples[(turn * 37) % samples.length] ?? '';
}

export const OPERATION_NAMES: readonly string[] = Object.keys(OPERATIONS);

/** Fills a store with ended calls and starts a server on it. */
export async function storeCalls(place: StorePlace, calls: number, label: string): Promise<StoredCalls> {
  await mkdir(place.folder, { recursive: true });
  const seed: SeedSettings = { ...place, calls };
  const seeded = await runScript<Seeded>('./arms/seed.ts', seed);
  const settings: ServerSettings = { ...place, groupCommit: true, limits: {} };
  const server = await startServer('./arms/patchboard.ts', settings);
  const headers = await createKey(server.url);
  await registerClients(server);
  return { label, server, seeded, headers };
}

async function registerClients({ url }: ServerProcess): Promise<void> {
  for (let client = 0; client < CLIENTS; client += 1) {
    const tools = Array.from({ length: TOOLS_PER_CLIENT }, (_, index) => ({
      name: `client_${client}.tool_${index}`,
      description: 'A tool that some client lends.',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
    }));
    await postJson(`${url}/internal/tools/register`, { client_id: `client_${client}`, tools }, AS_OPERATOR);
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
  const targets = stores.map((store) => ({ ...store, connection: new Connections(store.server.url) }));
  // The first round is the warm-up.
  for (let round = -1; round < rounds; round += 1) {
    if (round >= 0) say(`round ${round + 1} of ${rounds}`);
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
        const time = await medianTime(turns, (turn) => operation(target, turn));
        if (round >= 0) of(name, target.label).push(time);
      }
    }
  }
  for (const { connection } of targets) connection.close();
  return { of };
}

async function medianTime(turns: number, work: (turn: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const began = performance.now();
    await work(turn);
    times.push(performance.now() - began);
  }
  return median(times);
}
