import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { get, orGone, post, type HttpResponse } from './http.ts';
import { TOOLS } from './pack.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { ServerProcess } from './server-process.ts';

const SLOTS = 20;
const TOOL_MS = 400;
const OPEN_CALLS = 300;
const CAPACITY_PER_SECOND = (SLOTS * 1000) / TOOL_MS;
const GROWTH_BYTES = 150 * 1024 * 1024;
/**
 * "Quickly", for the middle refusal: the load is made on the same machine, so the slowest one says more about the
 * generator's own queue than about the server.
 */
const REFUSAL_MS = 2000;

interface Timed {
  readonly response: HttpResponse | null;
  readonly tookMs: number;
}

/** G12: ten times the capacity, open loop: refusals are quick and have Retry-After, accepted calls finish. */
export async function runOverload(folder: string, seconds: number): Promise<ScenarioReport> {
  const configFile = join(folder, 'config.yaml');
  writeFileSync(
    configFile,
    `limits:\n  concurrency_server: ${SLOTS}\n  open_calls_per_tenant: ${OPEN_CALLS}\n`,
  );
  const server = ServerProcess.chaos({ dataFolder: join(folder, 'data'), configFile });
  try {
    const url = await server.mustBeReady();
    const before = server.memory().now;
    const responses = await flood(url, CAPACITY_PER_SECOND * 10, seconds);
    const { peak } = server.memory();
    return await judge(url, responses, { before, peak });
  } finally {
    await server.destroy();
  }
}

/** Starts requests at fixed times, whether or not earlier ones have finished. */
async function flood(url: string, perSecond: number, seconds: number): Promise<Timed[]> {
  const began = performance.now();
  const sent: Promise<Timed>[] = [];
  while (performance.now() - began < seconds * 1000) {
    const due = Math.floor(((performance.now() - began) * perSecond) / 1000);
    while (sent.length < due) sent.push(invoke(url, sent.length));
    await new Promise<void>((resolve) => setTimeout(resolve, 5));
  }
  return await Promise.all(sent);
}

async function invoke(url: string, n: number): Promise<Timed> {
  const began = performance.now();
  const body = { run_id: `run_${n}`, args: { n, ms: TOOL_MS } };
  const response = await orGone(post(`${url}/v1/tools/${TOOLS.pause}/invoke`, body));
  return { response, tookMs: performance.now() - began };
}

async function judge(
  url: string,
  responses: readonly Timed[],
  memory: { before: number; peak: number },
): Promise<ScenarioReport> {
  const findings = new Findings();
  const accepted = responses.filter(({ response }) => response?.status === 202);
  const refused = responses.filter(({ response }) => response?.status === 429 || response?.status === 503);
  const others = responses.length - accepted.length - refused.length;
  findings.check(
    others === 0,
    `${others} of ${responses.length} requests got neither a receipt nor a refusal`,
  );
  findings.check(refused.length > 0, 'nothing was refused: this was no overload');
  const silent = refused.filter(({ response }) => !/^\d+$/.test(response?.headers.get('retry-after') ?? ''));
  findings.check(silent.length === 0, `${silent.length} refusals do not say when to come back`);
  const times = refused.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const middle = times[times.length >> 1] ?? 0;
  findings.check(middle < REFUSAL_MS, `half of the refusals took longer than ${Math.round(middle)} ms`);
  const growth = memory.peak - memory.before;
  findings.check(growth < GROWTH_BYTES, `memory grew by ${Math.round(growth / 2 ** 20)} MB`);
  const endings: Record<string, number> = {};
  for (const { response } of accepted) {
    const id = String(response?.body['tool_call_id']);
    const { body } = await get(`${url}/v1/tool_calls/${id}`, { headers: { prefer: 'wait=20' } });
    const state = String(body['state']);
    endings[state] = (endings[state] ?? 0) + 1;
  }
  findings.check(
    endings['COMPLETED'] === accepted.length,
    `accepted calls ended as ${JSON.stringify(endings)}`,
  );
  return {
    facts: {
      offered: responses.length,
      accepted: accepted.length,
      refused: refused.length,
      medianRefusalMs: Math.round(middle),
      slowestRefusalMs: Math.round(times.at(-1) ?? 0),
      memoryGrowthMb: Math.round(growth / 2 ** 20),
    },
    violations: findings.violations,
  };
}
