import { join } from 'node:path';
import { ECHO_ARGS, ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import { postJson } from '../http.ts';
import type { Load, LoadSettings } from '../load/generate.ts';
import { comparePaired, median } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONNECTIONS = 50;
const CLIENT_TOOL = 'bench.remote';
/**
 * A larger server needs a longer warm-up until its code is compiled; a cold one costs twice as much per
 * request.
 */
const WARM_SECONDS = 10;

const ARMS = [
  'no_store',
  'one_tx_per_change',
  'patchboard',
  'patchboard_guarded',
  'patchboard_receipt_only',
] as const;
type ArmName = (typeof ARMS)[number];

/** Twenty patterns and ten conditions that are evaluated before one allows the call. */
const POLICY = {
  default: {
    autoDenyTools: Array.from({ length: 10 }, (_, index) => `forbidden${index}.*`),
    rules: Array.from({ length: 10 }, (_, index) => ({
      tools: '*',
      effect: 'ask',
      when: [{ arg: '/cents', gt: index * 1000 }],
    })),
    autoAllowTools: [...Array.from({ length: 9 }, (_, index) => `other${index}.*`), '*'],
  },
};

/** P1: a durable receipt compared with the same route without a store. */
export async function durableReceipt(options: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => {
    const runs = await measure(folder, options);
    const against = comparePaired(runs.patchboard, runs.no_store);
    return {
      id: 'P1',
      work: [
        `POST /v1/tools/${ECHO_TOOL}/invoke, ${CONNECTIONS} connections, a run per connection. The tool runs in the server and returns at once,`,
        'so each request carries the whole life of a call: receipt, execution, result, three ledger rows.',
        'guarded has a policy of twenty patterns and ten conditions on arguments, all of them asked for every call.',
        `receipt_only invokes ${CLIENT_TOOL}, a client tool whose client never comes: one commit, one ledger row.`,
      ],
      target: '≥ 0.80',
      durability: `${DURABILITY} (no_store: nothing is kept)`,
      ratio: against.ratio,
      spread: { min: against.min, max: against.max },
      arms: Object.fromEntries(ARMS.map((name) => [name, armOf(runs[name])])),
      others: {
        'receipt_only ÷ no_store': comparePaired(runs.patchboard_receipt_only, runs.no_store),
        'guarded ÷ patchboard': comparePaired(runs.patchboard_guarded, runs.patchboard),
        'patchboard ÷ one_tx_per_change': comparePaired(runs.patchboard, runs.one_tx_per_change),
      },
    };
  });
}

async function measure(folder: string, { quick, say }: FigureOptions): Promise<Record<ArmName, number[]>> {
  const slices = quick ? 1 : 12;
  const seconds = quick ? 1 : 2;
  const runs: Record<ArmName, number[]> = {
    no_store: [],
    one_tx_per_change: [],
    patchboard: [],
    patchboard_guarded: [],
    patchboard_receipt_only: [],
  };
  const servers = new Map<ArmName, ServerProcess>();
  try {
    for (const name of ARMS) {
      const server = await startArm(name, join(folder, name));
      servers.set(name, server);
      if (name === 'patchboard_receipt_only') await lendTool(server);
      say(`P1: warming ${name}`);
      await load(server, toolOf(name), quick ? 1 : WARM_SECONDS);
    }
    for (let slice = 0; slice < slices; slice += 1) {
      say(`P1: slice ${slice + 1} of ${slices}`);
      for (const name of rotated(ARMS, slice)) {
        const server = servers.get(name);
        if (server !== undefined) runs[name].push(await load(server, toolOf(name), seconds));
      }
    }
    return runs;
  } finally {
    for (const server of servers.values()) await server.stop();
  }
}

async function lendTool(server: ServerProcess): Promise<void> {
  const tool = { name: CLIENT_TOOL, schema: { type: 'object' }, timeout_ms: 3_600_000 };
  await postJson(`${server.url}/internal/tools/register`, { client_id: 'bench', tools: [tool] });
}

async function startArm(name: ArmName, folder: string): Promise<ServerProcess> {
  if (name === 'no_store') return await startServer('./arms/no-store.ts', {});
  const settings: ServerSettings = {
    folder,
    groupCommit: name !== 'one_tx_per_change',
    limits: {
      // The tool must not wait for a slot: the receipt is measured, not the queue.
      concurrencyServer: 1000,
      concurrencyPerTenant: 1000,
      ...(name === 'patchboard_receipt_only' ? { openCallsPerTenant: 10_000_000 } : {}),
    },
    ...(name === 'patchboard_guarded' ? { policy: POLICY } : {}),
  };
  return await startServer('./arms/patchboard.ts', settings);
}

async function load(server: ServerProcess, tool: string, seconds: number): Promise<number> {
  const settings: LoadSettings = {
    url: `${server.url}/v1/tools/${tool}/invoke`,
    connections: CONNECTIONS,
    seconds,
    args: ECHO_ARGS,
  };
  const { perSecond } = await runScript<Load>('./load/generate.ts', settings);
  return perSecond;
}

function toolOf(name: ArmName): string {
  return name === 'patchboard_receipt_only' ? CLIENT_TOOL : ECHO_TOOL;
}

/** Each slice starts with a different arm, because the order affects the result. */
function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

function armOf(runs: readonly number[]): Arm {
  return { unit: 'per second', median: median(runs), runs };
}
