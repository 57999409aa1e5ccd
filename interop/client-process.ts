// Runs the client of one file in `clients/`, in a process of its own, and prints one line of JSON for each run.
// Arguments: the name of the file, and the target as JSON.
import assert from 'node:assert/strict';
import process from 'node:process';
import type { Client, ClientRun, Target } from './client-run.ts';
import { Operator } from './operator.ts';

/** One run in the report. */
export interface RunReport extends Pick<ClientRun, 'era' | 'transport' | 'does'> {
  readonly package: string;
  /** Undefined: passed. */
  readonly problem?: string;
}

const RUN_LIMIT_MS = 60_000;

const [name = '', target = ''] = process.argv.slice(2);
const { client } = (await import(`./clients/${name}.ts`)) as { client: Client };
for (const run of client.runs) {
  const { era, transport, does } = run;
  const problem = await problemOf(run, JSON.parse(target) as Target);
  const report: RunReport = {
    package: client.package,
    era,
    transport,
    does,
    ...(problem === undefined ? {} : { problem }),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
// A client may leave a connection open.
process.exit(0);

async function problemOf(run: ClientRun, to: Target): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${RUN_LIMIT_MS / 1000} s`)), RUN_LIMIT_MS);
  });
  try {
    await Promise.race([checked(run, to), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The run, and whether the client spoke the era that the report names. */
async function checked(run: ClientRun, to: Target): Promise<void> {
  await run.run(to);
  const wanted = run.era === 'auto' ? 'modern' : run.era;
  assert.equal(await (await Operator.of(to)).eraOfNewestCall(), wanted, 'the client spoke another era');
}
