import { join } from 'node:path';
import { ECHO_ARGS, ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { startServer, type ServerProcess } from '../child.ts';
import type { PeerContender } from '../contenders.ts';
import type { Figure, FigureOptions, Outcome } from '../figure.ts';
import { postJson, type Headers } from '../http.ts';
import {
  armsOfLoads,
  loadInTurn,
  runsOf,
  type ArmRuns,
  type LoadedArm,
  type RunsOfArms,
} from '../loaded-arms.ts';
import { BULLMQ, GRAPHILE_WORKER } from '../peer-contenders.ts';
import { startQueues } from '../queues.ts';
import { comparePaired, spreadOf, subtractPaired, type Spread } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONNECTIONS = 50;
/** The tool must not wait for a slot: the call is measured, not the queue. */
const SLOTS = 1000;
const CLIENT_TOOL = 'bench.remote';
/** Longer than any response takes. */
const WAIT: Headers = { prefer: 'wait=30' };
const TARGETS: Readonly<Record<string, number>> = { [BULLMQ]: 2, [GRAPHILE_WORKER]: 8 };

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

/** P1: the durable life of a call over HTTP, compared with the bare route and with queues behind the same route. */
export async function durableLife({ quick, say }: FigureOptions): Promise<Figure> {
  const tell = (line: string): void => say(`P1: ${line}`);
  return await withTemporaryFolder(async (folder) => {
    const queues = await startQueues(folder, true, tell);
    const started: ServerProcess[] = [];
    try {
      const arms = [
        ...(await startOwnArms(folder, started)),
        ...(await serveQueues(queues.contenders, folder, started)),
      ];
      const plan = quick
        ? { slices: 1, seconds: 1, warmSeconds: 1 }
        : { slices: 7, seconds: 2, warmSeconds: 8 };
      return figureOf(await loadInTurn(arms, plan, tell), queues.contenders);
    } finally {
      for (const server of started) await server.stop();
      await queues.stop();
    }
  });
}

async function startOwnArms(folder: string, started: ServerProcess[]): Promise<LoadedArm[]> {
  const bare = await startServer('./arms/no-store.ts', {});
  started.push(bare);
  const patchboard = async (name: string, more: Partial<ServerSettings> = {}): Promise<ServerProcess> => {
    const settings: ServerSettings = {
      folder: join(folder, name),
      groupCommit: true,
      limits: { concurrencyServer: SLOTS, concurrencyPerTenant: SLOTS },
      ...more,
    };
    const server = await startServer('./arms/patchboard.ts', settings);
    started.push(server);
    return server;
  };
  const plain = await patchboard('plain');
  const guarded = await patchboard('guarded', { policy: POLICY });
  const receipts = await patchboard('receipts', { limits: { openCallsPerTenant: 10_000_000 } });
  await registerClientTool(receipts);
  const single = await patchboard('single', { groupCommit: false });
  return [
    invokes('no_store', bare),
    invokes('patchboard', plain),
    invokes('patchboard_result', plain, WAIT),
    invokes('patchboard_guarded', guarded),
    invokes('patchboard_receipt_only', receipts, {}, CLIENT_TOOL),
    invokes('one_tx_per_change', single),
  ];
}

function invokes(
  name: string,
  { url, pid }: ServerProcess,
  headers: Headers = {},
  tool = ECHO_TOOL,
): LoadedArm {
  const load = { url: `${url}/v1/tools/${tool}/invoke`, headers, connections: CONNECTIONS, args: ECHO_ARGS };
  return { name, pid, load };
}

async function registerClientTool({ url }: ServerProcess): Promise<void> {
  const tool = { name: CLIENT_TOOL, schema: { type: 'object' }, timeout_ms: 3_600_000 };
  await postJson(`${url}/internal/tools/register`, { client_id: 'bench', tools: [tool] });
}

async function serveQueues(
  queues: readonly PeerContender[],
  folder: string,
  started: ServerProcess[],
): Promise<LoadedArm[]> {
  const arms: LoadedArm[] = [];
  for (const queue of queues) {
    const { name, storePid } = queue;
    const server = await queue.serve(join(folder, name), CONNECTIONS * 4);
    started.push(server);
    const load = { url: server.url, connections: CONNECTIONS, args: ECHO_ARGS };
    arms.push({ name, pid: server.pid, ...(storePid === undefined ? {} : { storePid }), load });
  }
  return arms;
}

function figureOf(runs: RunsOfArms, queues: readonly PeerContender[]): Figure {
  const of = (name: string): ArmRuns => runsOf(runs, name);
  const bare = of('no_store');
  const rate = (name: string, against: string): Spread =>
    comparePaired(of(name).perSecond, of(against).perSecond);
  const added = (name: string): Spread => subtractPaired(of(name).cpu, bare.cpu);
  return {
    id: 'P1',
    work: [
      `POST /v1/tools/${ECHO_TOOL}/invoke, ${CONNECTIONS} connections, a run per connection. The tool runs in the server and returns at once,`,
      'so each request carries the whole life of a call: record, execution, result, three ledger rows. patchboard responds when the call is',
      'recorded, patchboard_result (Prefer: wait) when it has ended. no_store is the bare Fastify route; the queues are the same route, which adds a job',
      'and responds when its worker has stored the result. CPU is that of the process without its index of calls, which a thread writes behind the commits.',
      'guarded: a policy of twenty patterns and ten conditions, all evaluated. receipt_only: a client tool whose client never comes, one commit.',
    ],
    durability: [
      `patchboard: ${DURABILITY}`,
      'no_store: nothing is kept',
      ...queues.map(({ name, durability }) => `${name}: ${durability}`),
    ].join('\n'),
    outcomes: [
      { name: 'CPU added over the bare route', unit: 'µs', ...added('patchboard'), target: { atMost: 45 } },
      { name: 'the same, with the result in the response', unit: 'µs', ...added('patchboard_result') },
      { name: 'CPU of the index of calls, behind it', unit: 'µs', ...spreadOf(of('patchboard').workerCpu) },
      ...queues.map(({ name, peer }): Outcome => {
        const target = { atLeast: TARGETS[name] ?? 1 };
        return { name: `throughput ÷ ${name}`, ...rate('patchboard_result', name), target, peer };
      }),
      {
        name: 'throughput ÷ the bare route',
        ...rate('patchboard', 'no_store'),
        peer: { name: 'bare Fastify route', durability: 'none' },
      },
      { name: 'throughput, receipt only ÷ the bare route', ...rate('patchboard_receipt_only', 'no_store') },
      { name: 'throughput, guarded ÷ not guarded', ...rate('patchboard_guarded', 'patchboard') },
      { name: 'throughput ÷ one transaction per change', ...rate('patchboard', 'one_tx_per_change') },
    ],
    arms: armsOfLoads(runs),
  };
}
