// Measures how much later the end of a call wakes a request at another node than one at the node that ran the call.
import process from 'node:process';
import { Connections, type Headers } from '../http.ts';
import { percentile } from '../statistics.ts';

export interface WakeUpSettings {
  /** The node that takes, runs and ends the calls. */
  readonly url: string;
  /** The node that is waited at. */
  readonly otherUrl: string;
  readonly path: string;
  readonly headers: Headers;
  readonly args: unknown;
  /** Calls at a time. */
  readonly concurrency: number;
  readonly seconds: number;
}

export interface WakeUps {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const settings = JSON.parse(process.argv[2] ?? '') as WakeUpSettings;
const { headers, concurrency } = settings;
const WAIT = { ...headers, prefer: 'wait=30' };
// Each call has one request at each node under way.
const own = new Connections(settings.url, concurrency);
const other = new Connections(settings.otherUrl, concurrency);
const later: number[] = [];
const end = performance.now() + settings.seconds * 1000;
await Promise.all(Array.from({ length: concurrency }, (_, line) => repeat(`run_wake_${line}`)));
own.close();
other.close();
const result: WakeUps = {
  count: later.length,
  p50Ms: percentile(later, 0.5),
  p99Ms: percentile(later, 0.99),
};
process.stdout.write(`${JSON.stringify(result)}\n`);

async function repeat(run: string): Promise<void> {
  // The first call makes the connections, and does not count.
  for (let turn = 0; turn === 0 || performance.now() < end; turn += 1) {
    const receipt = await own.post(settings.path, { run_id: run, args: settings.args }, headers);
    const { tool_call_id: id } = JSON.parse(receipt) as { readonly tool_call_id: string };
    const [atOwn, atOther] = await Promise.all([ended(own, id), ended(other, id)]);
    if (turn > 0) later.push(atOther - atOwn);
  }
}

/** Resolves to the time of the response with the end of the call. */
async function ended(node: Connections, id: string): Promise<number> {
  const text = await node.get(`/v1/tool_calls/${id}`, WAIT);
  const at = performance.now();
  const { status } = JSON.parse(text) as { readonly status: string };
  if (status !== 'SUCCEEDED') throw new Error(`the call is ${status}: ${text}`);
  return at;
}
