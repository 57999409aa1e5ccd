import type { ServerSettings } from '../arms/patchboard.ts';
import { ECHO_ARGS, WAIT_TOOL } from '../arms/bench-pack.ts';
import type { StorePlace } from '../arms/bench-settings.ts';
import { traceOfRun } from '../arms/varied-call.ts';
import { startServer, type ServerProcess } from '../child.ts';
import { postJson } from '../http.ts';
import { AS_OPERATOR, createDeviceKey } from '../key.ts';
import type { DevicesSettings } from '../load/devices.ts';
import { clientTool, fillStore, registerClients, type FilledStore } from '../stored-calls.ts';
import { untilIdle } from '../until-idle.ts';
import type { ShownIds } from './console-pages.ts';

const CLIENTS = 100;
const TOOLS_PER_CLIENT = 2;
export const TOOLS: number = CLIENTS * TOOLS_PER_CLIENT;
export const DEVICES = 20;
export const WAITING = 20;
/** Longer than any measurement. */
const APPROVAL_MS = 24 * 60 * 60_000;
const POLICY = { default: { requireApprovalTools: [WAIT_TOOL] } };

/** A server with calls of many tools and agents, devices, and calls that wait for an approval. */
export interface ServedConsole {
  readonly url: string;
  readonly shown: ShownIds;
  stop(): Promise<void>;
}

/** Fills a store with calls of as many tools as there are. */
export async function fillConsole(place: StorePlace, calls: number): Promise<FilledStore> {
  const tools = Array.from({ length: TOOLS }, (_, index) =>
    clientTool(Math.floor(index / TOOLS_PER_CLIENT), index % TOOLS_PER_CLIENT),
  );
  return await fillStore(place, calls, String(calls), { tools });
}

export async function serveConsole({ place, seeded }: FilledStore): Promise<ServedConsole> {
  const settings: ServerSettings = {
    ...place,
    groupCommit: true,
    limits: { approvalExpiryMs: APPROVAL_MS },
    policy: POLICY,
  };
  const started: ServerProcess[] = [];
  const start = async (script: string, given: unknown): Promise<ServerProcess> => {
    const server = await startServer(script, given);
    started.push(server);
    return server;
  };
  const stop = async (): Promise<void> => {
    for (const server of started.toReversed()) await server.stop();
  };
  try {
    const server = await start('./arms/patchboard.ts', settings);
    await registerClients(server, CLIENTS, TOOLS_PER_CLIENT);
    const headers = await createDeviceKey(server.url);
    const devices: DevicesSettings = { url: server.url, devices: DEVICES, tool: 'bench.device', headers };
    await start('./load/devices.ts', devices);
    for (let turn = 0; turn < WAITING; turn += 1) {
      const body = { run_id: 'run_waiting', args: ECHO_ARGS };
      await postJson(`${server.url}/v1/tools/${WAIT_TOOL}/invoke`, body, AS_OPERATOR);
    }
    await untilIdle(server.pid);
    return { url: server.url, shown: shownOf(seeded), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Ids from the middle of the store, which no cache has. */
function shownOf({ sampleIds, sampleRuns }: FilledStore['seeded']): ShownIds {
  const middle = Math.floor(sampleIds.length / 2);
  const run = sampleRuns[middle] ?? '';
  const runNumber = Number(/\d+$/.exec(run)?.[0] ?? 0);
  return {
    call: sampleIds[middle] ?? '',
    otherCall: sampleIds[middle + 1] ?? '',
    run,
    otherRun: sampleRuns.find((other) => other !== run) ?? run,
    trace: traceOfRun(runNumber),
    tool: clientTool(CLIENTS / 2 - 1, 1),
  };
}
