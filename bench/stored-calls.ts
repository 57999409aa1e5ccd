import { mkdir } from 'node:fs/promises';
import { ECHO_ARGS, ECHO_TOOL } from './arms/bench-pack.ts';
import type { StorePlace } from './arms/bench-settings.ts';
import type { ServerSettings } from './arms/patchboard.ts';
import type { Seeded, SeedSettings } from './arms/seed.ts';
import { runScript, startServer, type ServerProcess } from './child.ts';
import { Connections, postJson, type Headers } from './http.ts';
import { AS_OPERATOR, createKey } from './key.ts';
import { median } from './statistics.ts';
import { untilIdle } from './until-idle.ts';

export const CLIENTS = 200;
export const TOOLS_PER_CLIENT = 3;

/** A store that holds a number of ended calls, with an index of calls that is up to date. */
export interface FilledStore {
  readonly label: string;
  readonly calls: number;
  readonly place: StorePlace;
  readonly seeded: Seeded;
}

/** A server on such a store. */
export interface StoredCalls extends FilledStore {
  readonly server: ServerProcess;
  readonly headers: Headers;
}

interface Target {
  readonly connection: Connections;
  readonly seeded: Seeded;
  readonly headers: Headers;
}

type Operation = (target: Target, turn: number) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  invoke: ({ connection, headers }, turn) => invokeOnce(connection, headers, turn),
  read: ({ connection, seeded, headers }, turn) =>
    connection.get(`/v1/tool_calls/${sampleOf(seeded.sampleIds, turn)}`, headers),
  list: ({ connection, headers }) => connection.get('/v1/tool_calls?limit=50', headers),
  'list of a run': ({ connection, seeded, headers }, turn) =>
    connection.get(`/v1/tool_calls?limit=50&run_id=${sampleOf(seeded.sampleRuns, turn)}`, headers),
  [`tools of ${CLIENTS} clients`]: ({ connection, headers }) => connection.get('/v1/tools', headers),
};

export const OPERATION_NAMES: readonly string[] = Object.keys(OPERATIONS);

export async function invokeOnce(connection: Connections, headers: Headers, turn: number): Promise<unknown> {
  const body = { run_id: `run_${turn % 10}`, args: ECHO_ARGS };
  return await connection.post(`/v1/tools/${ECHO_TOOL}/invoke`, body, headers);
}

function sampleOf(samples: readonly string[], turn: number): string {
  return samples[(turn * 37) % samples.length] ?? '';
}

/** Fills a store with ended calls. */
export async function fillStore(
  place: StorePlace,
  calls: number,
  label: string,
  given: Pick<SeedSettings, 'tools'> = {},
): Promise<FilledStore> {
  await mkdir(place.folder, { recursive: true });
  const seed: SeedSettings = { ...place, ...given, calls };
  return { label, calls, place, seeded: await runScript<Seeded>('./arms/seed.ts', seed) };
}

/** Starts a server on a filled store, with clients that have registered tools. */
export async function serveStore(store: FilledStore): Promise<StoredCalls> {
  const settings: ServerSettings = { ...store.place, groupCommit: true, limits: {} };
  const server = await startServer('./arms/patchboard.ts', settings);
  const headers = await createKey(server.url);
  await registerClients(server, CLIENTS, TOOLS_PER_CLIENT);
  await untilIdle(server.pid);
  return { ...store, server, headers };
}

export async function registerClients(
  { url }: ServerProcess,
  clients: number,
  toolsPerClient: number,
): Promise<void> {
  for (let client = 0; client < clients; client += 1) {
    const tools = Array.from({ length: toolsPerClient }, (_, index) => ({
      name: clientTool(client, index),
      description: 'A tool that some client lends.',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
    }));
    await postJson(`${url}/internal/tools/register`, { client_id: `client_${client}`, tools }, AS_OPERATOR);
  }
}

/** The name of a client's tool. */
export function clientTool(client: number, index: number): string {
  return `client_${client}.tool_${index}`;
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
