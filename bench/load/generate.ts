// The load generator, in a separate process: closed loop, a fixed number of connections for a fixed time.
import process from 'node:process';
import autocannon from 'autocannon';

export interface LoadSettings {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Arguments of a request to invoke a tool, one run per connection. */
  readonly args?: unknown;
  /** The whole body instead, the same on every connection. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Load {
  readonly requests: number;
  readonly perSecond: number;
}

const settings = JSON.parse(process.argv[2] ?? '') as LoadSettings;
let made = 0;
const result = await autocannon({
  url: settings.url,
  method: 'POST',
  headers: { 'content-type': 'application/json', ...settings.headers },
  body: body(0),
  connections: settings.connections,
  duration: settings.seconds,
  // One run per connection, so that the concurrency limit per run does not affect the result.
  setupClient: (client) => client.setBody(body((made += 1))),
});
if (result.non2xx + result.errors + result.timeouts > 0) {
  process.stderr.write(
    `load: ${result.non2xx} responses other than 2xx, ${result.errors} errors, ${result.timeouts} timeouts\n`,
  );
  process.exitCode = 1;
}
const load: Load = {
  requests: result['2xx'],
  perSecond: result['2xx'] / result.duration,
};
process.stdout.write(`${JSON.stringify(load)}\n`);

function body(connection: number): string {
  if (settings.body !== undefined) return JSON.stringify(settings.body);
  return JSON.stringify({ run_id: `run_bench_${connection}`, args: settings.args });
}
