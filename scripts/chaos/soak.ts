import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { get, orGone, post } from './http.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { ServerProcess } from './server-process.ts';

const PROBE = fileURLToPath(new URL('./memory-probe.ts', import.meta.url));
const SAMPLE_MS = 10_000;
const MEGABYTE = 1024 * 1024;
/** Allowed growth of the heap (after collection) from the first third of the samples to the last. */
const HEAP_GROWTH_BYTES = 16 * MEGABYTE;
const DESCRIPTOR_GROWTH = 20;
const LARGE_ROWS =
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 400) select i, hex(zeroblob(60)) from n';

export interface SoakOptions {
  readonly folder: string;
  readonly minutes: number;
  readonly log: (line: string) => void;
}

interface Sample {
  readonly minute: number;
  readonly heapUsed: number;
  readonly rss: number;
  readonly descriptors: number;
  readonly streams: number;
}

/** Mixed load for a while: heap (after collection), descriptors and streams must stay level. */
export async function runSoak({ folder, minutes, log }: SoakOptions): Promise<ScenarioReport> {
  const configFile = join(folder, 'config.json');
  writeFileSync(configFile, JSON.stringify({ rates: { principal: null, tenant: null, tool: null } }));
  const dataFolder = join(folder, 'data');
  const server = ServerProcess.shipped({ dataFolder, configFile, nodeArgs: ['--import', PROBE] });
  try {
    const url = await server.mustBeReady();
    const token = readFileSync(join(dataFolder, 'operator.token'), 'utf8').trim();
    const end = performance.now() + minutes * 60_000;
    const isOver = (): boolean => performance.now() >= end || server.hasEnded;
    const samples: Sample[] = [];
    const sampling = sample({ server, url, token, isOver, samples, log });
    const load = new Load(url, token, isOver);
    await Promise.all([sampling, load.run()]);
    return judge(samples, load.counts, server);
  } finally {
    await server.destroy();
  }
}

/** Requests of agents, a client, an operator and event readers, sequentially in each role. */
class Load {
  readonly counts = {
    calls: 0,
    largeQueries: 0,
    clientCalls: 0,
    decisions: 0,
    streams: 0,
    resets: 0,
    parses: 0,
  };
  readonly #url: string;
  readonly #operator: { headers: Record<string, string> };
  readonly #isOver: () => boolean;

  constructor(url: string, token: string, isOver: () => boolean) {
    this.#url = url;
    this.#operator = { headers: { authorization: `Bearer ${token}` } };
    this.#isOver = isOver;
  }

  async run(): Promise<void> {
    const tools = [
      { name: 'soak.echo', schema: {} },
      { name: 'soak.wipe', schema: {}, annotations: { destructive: true } },
    ];
    await post(`${this.#url}/internal/tools/register`, { client_id: 'soaker', tools });
    await Promise.all([
      this.#repeat(() => this.#call()),
      this.#repeat(() => this.#call()),
      this.#repeat(() => this.#largeQuery()),
      this.#repeat(() => this.#clientCall()),
      this.#repeat(() => this.#serveClient()),
      this.#repeat(() => this.#decide()),
      this.#repeat(() => this.#readEvents()),
      this.#repeat(() => this.#resetEvents()),
      this.#repeat(() => this.#parse()),
    ]);
  }

  async #repeat(work: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver()) {
      await work();
      await pause(5);
    }
  }

  async #invoke(tool: string, args: unknown, wait = 20): Promise<Readonly<Record<string, unknown>>> {
    const body = { run_id: `run_${this.counts.calls % 50}`, args };
    const response = await orGone(
      post(`${this.#url}/v1/tools/${tool}/invoke`, body, { headers: { prefer: `wait=${wait}` } }),
    );
    return response?.body ?? {};
  }

  async #call(): Promise<void> {
    this.counts.calls += 1;
    await this.#invoke('calculation.eval', { expression: `${this.counts.calls} * 7` });
  }

  async #largeQuery(): Promise<void> {
    this.counts.largeQueries += 1;
    await this.#invoke('database.query', { sql: LARGE_ROWS });
  }

  async #clientCall(): Promise<void> {
    this.counts.clientCalls += 1;
    await this.#invoke('soak.echo', { text: 'x'.repeat(20_000) });
  }

  async #serveClient(): Promise<void> {
    const response = await orGone(get(`${this.#url}/internal/clients/soaker/requests?wait=1`));
    const { requests = [] } = (response?.body ?? {}) as {
      requests?: { tool_call_id: string; attempt_token: string; args: unknown }[];
    };
    for (const { tool_call_id: id, attempt_token, args } of requests)
      await orGone(
        post(`${this.#url}/internal/tool_calls/${id}/submit`, {
          status: 'SUCCEEDED',
          result: args,
          attempt_token,
        }),
      );
  }

  async #decide(): Promise<void> {
    this.counts.decisions += 1;
    await this.#invoke('soak.wipe', { n: this.counts.decisions }, 0);
    const response = await orGone(get(`${this.#url}/v1/approvals`, this.#operator));
    const { approvals = [] } = (response?.body ?? {}) as {
      approvals?: { tool_call_id: string; digest: string }[];
    };
    for (const { tool_call_id: id, digest } of approvals) {
      const decision = this.counts.decisions % 2 === 0 ? 'allow' : 'deny';
      await orGone(post(`${this.#url}/v1/tool_calls/${id}/decision`, { decision, digest }, this.#operator));
    }
  }

  /** Reads for a moment and disconnects. */
  async #readEvents(): Promise<void> {
    this.counts.streams += 1;
    const hangUp = AbortSignal.timeout(200);
    try {
      const response = await fetch(`${this.#url}/v1/events`, { signal: hangUp });
      for await (const chunk of response.body ?? []) void chunk;
    } catch (error) {
      if (!hangUp.aborted && !this.#isOver()) throw error;
    }
  }

  async #resetEvents(): Promise<void> {
    this.counts.resets += 1;
    const { port, host } = new URL(this.#url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(`GET /v1/events HTTP/1.1\r\nHost: ${host}\r\nLast-Event-ID: 0\r\n\r\n`);
        setImmediate(() => socket.resetAndDestroy());
      });
      socket.once('error', () => undefined);
      socket.once('close', () => resolve());
    });
    await pause(50);
  }

  async #parse(): Promise<void> {
    this.counts.parses += 1;
    const text = `${'<<<[TOOL_REQUEST]>>>\n'.repeat(50)} and text`;
    await orGone(post(`${this.#url}/v1/parse`, { protocol: 'vcp', text }));
    await pause(50);
  }
}

interface Sampling {
  readonly server: ServerProcess;
  readonly url: string;
  readonly token: string;
  readonly isOver: () => boolean;
  readonly samples: Sample[];
  readonly log: (line: string) => void;
}

async function sample({ server, url, token, isOver, samples, log }: Sampling): Promise<void> {
  const began = performance.now();
  while (!isOver()) {
    const memory = await server.memoryAfterCollection();
    const minute = (performance.now() - began) / 60_000;
    const streams = await openStreams(url, token);
    samples.push({ minute, ...memory, streams });
    if (samples.length % 6 === 1) log(line(samples.at(-1)));
    await pause(SAMPLE_MS);
  }
}

async function openStreams(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(
    /^patchboard_event_streams_open(?:\{[^}]*\})? (\d+)/m.exec(await response.text())?.[1] ?? Number.NaN,
  );
}

function line(sample: Sample | undefined): string {
  if (sample === undefined) return '';
  const { minute, heapUsed, rss, descriptors, streams } = sample;
  const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1);
  return `minute ${minute.toFixed(1)}: heap ${megabytes(heapUsed)} MiB, RSS ${megabytes(rss)} MiB, ${descriptors} descriptors, ${streams} streams`;
}

function judge(samples: readonly Sample[], counts: Load['counts'], server: ServerProcess): ScenarioReport {
  const findings = new Findings();
  findings.check(!server.hasEnded, `the server ended: ${server.stderr}`);
  findings.check(samples.length >= 6, `only ${samples.length} samples were taken`);
  const third = Math.floor(samples.length / 3);
  // The first third is the warm-up: caches and pools fill.
  const level = samples.slice(third);
  const growth = (read: (sample: Sample) => number): number =>
    median(samples.slice(-third).map(read)) - median(samples.slice(0, third).map(read));
  const heap = growth((sample) => sample.heapUsed);
  const descriptors = growth((sample) => sample.descriptors);
  findings.check(heap < HEAP_GROWTH_BYTES, `the heap grew by ${(heap / MEGABYTE).toFixed(1)} MiB`);
  findings.check(descriptors < DESCRIPTOR_GROWTH, `${descriptors} descriptors more than at the beginning`);
  const streams = Math.max(...level.map((sample) => sample.streams));
  findings.check(streams < 20, `${streams} event streams were open at once`);
  const perHour = (read: (sample: Sample) => number): number =>
    slope(level.map((one) => [one.minute / 60, read(one)]));
  return {
    facts: {
      counts,
      samples: samples.length,
      'heap slope, MiB an hour': (perHour((one) => one.heapUsed) / MEGABYTE).toFixed(2),
      'RSS slope, MiB an hour': (perHour((one) => one.rss) / MEGABYTE).toFixed(2),
      'descriptor slope an hour': perHour((one) => one.descriptors).toFixed(2),
      'stream slope an hour': perHour((one) => one.streams).toFixed(2),
      first: line(samples[0]),
      last: line(samples.at(-1)),
    },
    violations: findings.violations,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Slope of the least-squares line. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (read: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  const [x, y] = [mean(([at]) => at), mean(([, value]) => value)];
  const above = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  const below = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms));
}
