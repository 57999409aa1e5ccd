import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Call } from '../../packages/patchboard/src/core/call/call.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';
import { CLIENT_ID, registerClientTools, REMOTE_TOOL } from './client.ts';
import { orGone, post, get, type HttpResponse } from './http.ts';
import { TOOLS } from './pack.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { ServerApi } from './server-api.ts';
import { ServerProcess } from './server-process.ts';

const DRAIN_MS = 2500;
/** The server exits by force after 20 s; the drain time is much shorter here. */
const EXIT_MS = 20_000;

/** Requests that wait for their call. */
const WAITS = 5;

/** The default drain time: a server that is idle does not wait for it. */
const IDLE_EXIT_MS = 10_000;

/**
 * G19: after SIGTERM running calls finish, streams and waits end, stuck calls are sealed, and the server
 * exits 0.
 */
export async function runDrain(folder: string): Promise<ScenarioReport> {
  const findings = new Findings();
  const idleMs = await stopIdle(join(folder, 'idle'), findings);
  const busy = await stopBusy(folder, findings);
  return { facts: { idleMs, ...busy }, violations: findings.violations };
}

/** Sends the signal as soon as the ready line appears. */
async function stopIdle(dataFolder: string, findings: Findings): Promise<number> {
  const server = ServerProcess.shipped({ dataFolder });
  try {
    await server.mustBeReady();
    const began = Date.now();
    server.terminate();
    const { code, signal } = await server.ended;
    const tookMs = Date.now() - began;
    findings.check(code === 0, `SIGTERM ended an idle server with ${code ?? signal}: ${server.stderr}`);
    findings.check(tookMs < IDLE_EXIT_MS, `an idle server took ${tookMs} ms to stop`);
    return tookMs;
  } finally {
    await server.destroy();
  }
}

async function stopBusy(folder: string, findings: Findings): Promise<Record<string, unknown>> {
  const configFile = join(folder, 'config.yaml');
  writeFileSync(configFile, `limits:\n  drain_ms: ${DRAIN_MS}\n`);
  const dataFolder = join(folder, 'data');
  const server = ServerProcess.chaos({ dataFolder, configFile });
  try {
    const url = await server.mustBeReady();
    await registerClientTools(new ServerApi(url));
    const invoke = async (tool: string, n: number, ms: number, prefer?: string): Promise<HttpResponse> =>
      await post(
        `${url}/v1/tools/${tool}/invoke`,
        { run_id: `run_${n}`, args: { n, ms } },
        prefer === undefined ? {} : { headers: { prefer } },
      );
    const short = await Promise.all(Array.from({ length: 20 }, (_, n) => invoke(TOOLS.pause, n, 1200)));
    const stuck = await invoke(TOOLS.stuck, 100, 0);
    const remote = await invoke(REMOTE_TOOL, 101, 0);
    const open = [
      ...Array.from({ length: WAITS }, (_, n) => orGone(invoke(TOOLS.pause, 200 + n, 1000, 'wait=30'))),
      orGone(get(`${url}/internal/clients/nobody/requests?wait=30`)),
      readToEnd(`${url}/v1/events`),
      readToEnd(`${url}/internal/clients/${CLIENT_ID}/requests`),
    ];
    // One idle connection, as browsers open in advance, and one that stops in the middle of a request.
    const silent = connect(Number(new URL(url).port), '127.0.0.1');
    const halting = connect(Number(new URL(url).port), '127.0.0.1');
    halting.write('POST /v1/tools/x/invoke HTTP/1.1\r\nhost: ');
    for (const socket of [silent, halting]) socket.on('error', () => {});
    while (!(await isUnderWay(url, short.length + 2 + WAITS)))
      await new Promise<void>((resolve) => setTimeout(resolve, 20));
    const began = Date.now();
    server.terminate();
    const { code, signal } = await server.ended;
    const tookMs = Date.now() - began;
    findings.check(code === 0, `SIGTERM ended the server with ${code ?? signal}: ${server.stderr}`);
    findings.check(tookMs < EXIT_MS, `it took ${tookMs} ms`);
    const responses = await Promise.all(open);
    findings.check(
      !responses.includes(null),
      `${responses.filter((one) => one === null).length} connections were cut off`,
    );
    const calls = await storedCalls(join(dataFolder, 'patchboard.db'), [...short, stuck, remote]);
    const states = calls.map((call) => call?.state.name);
    findings.check(
      states.slice(0, short.length).every((state) => state === 'COMPLETED'),
      `calls that could finish in time ended as ${states.join()}`,
    );
    const sealed = calls[short.length]?.state;
    findings.check(
      sealed?.name === 'SEALED' && sealed.error.outcome === 'unknown',
      `the stuck call was stored as ${JSON.stringify(sealed)}`,
    );
    findings.check(states.at(-1) === 'PENDING', `the client's call should wait on, and is ${states.at(-1)}`);
    return { tookMs, finished: short.length, connections: open.length };
  } finally {
    await server.destroy();
  }
}

/** Whether the server has this many calls, and the two streams: what was sent before them has arrived as well. */
async function isUnderWay(url: string, calls: number): Promise<boolean> {
  const { body } = await get(`${url}/v1/stats`);
  const counts = Object.values(body['calls'] as Record<string, number>);
  return Number(body['streams']) >= 2 && counts.reduce((sum, count) => sum + count, 0) >= calls;
}

/** The text of a stream that ended properly; null if it was cut off. */
async function readToEnd(url: string): Promise<string | null> {
  try {
    const response = await fetch(url);
    return await response.text();
  } catch {
    return null;
  }
}

async function storedCalls(file: string, receipts: readonly HttpResponse[]): Promise<(Call | undefined)[]> {
  const store = await sqliteStore({ file, digest: nodeDigest });
  try {
    return await Promise.all(
      receipts.map(async (receipt) => await store.findCall(String(receipt.body['tool_call_id']))),
    );
  } finally {
    await store.close();
  }
}
