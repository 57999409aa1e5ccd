// npm run chaos -- [--kills N] [--loops N] [--calls N] [--minutes N] [--rounds N] [--seed N] [--postgres 15|18]
//   [--bus postgres|nats|both] [--plant FAULT] [scenario …]
// Injects faults into a real server, then checks its guarantees.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { POSTGRES_VERSIONS } from '../../packages/patchboard/test/services/postgres-binaries.ts';
import type { BusName } from './cluster-faults.ts';
import { runClusterLoop } from './cluster-loop.ts';
import { runDevices } from './devices.ts';
import { runDiskFull } from './disk-full.ts';
import { runDrain } from './drain.ts';
import { runEndlessBody } from './endless-body.ts';
import { runKillLoop } from './kill-loop.ts';
import { runOverload } from './overload.ts';
import { PLANTED_FAULTS } from './planted-faults.ts';
import { faultsOf, runPostgresLoop } from './postgres-loop.ts';
import { runRefusedStores } from './refused-stores.ts';
import { runSandbox } from './sandbox.ts';
import { withChaosFolder, type ScenarioReport } from './scenario.ts';
import { parseSeed } from './seed.ts';
import { runSoak } from './soak.ts';
import { runToolsHeap } from './tools-heap.ts';

const MINUTE_MS = 60_000;
const GIGABYTE = 2 ** 30;
const OVERLOAD_SECONDS = 10;
const RACE_SECONDS = 60;
const OUTPUT_GIGABYTES = 10;

const BUSES: ReadonlyMap<string, readonly BusName[]> = new Map([
  ['postgres', ['postgres']],
  ['nats', ['nats']],
  ['both', ['postgres', 'nats']],
]);

// The servers are killed when this process exits, and a signal alone would not run that.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const { values, positionals } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    loops: { type: 'string', default: '1000' },
    calls: { type: 'string', default: '2000' },
    minutes: { type: 'string', default: '15' },
    rounds: { type: 'string' },
    bus: { type: 'string', default: 'both' },
    seed: { type: 'string' },
    postgres: { type: 'string', default: '18' },
    plant: { type: 'string' },
  },
  allowPositionals: true,
});
const kills = Number(values.kills);
const loops = Number(values.loops);
const calls = Number(values.calls);
const minutes = Number(values.minutes);
const seed = parseSeed(values.seed);
const rounds = values.rounds === undefined ? null : Number(values.rounds);
const counts = [kills, loops, calls, minutes, rounds ?? 1].every(
  (count) => Number.isSafeInteger(count) && count > 0,
);
if (!counts || seed === null) {
  process.stderr.write(
    '--kills, --loops, --calls, --minutes and --rounds take a positive whole number, --seed a whole number\n',
  );
  process.exit(2);
}

const version = POSTGRES_VERSIONS.find((one) => String(one) === values.postgres);
const planted = PLANTED_FAULTS.find((fault) => fault === values.plant) ?? null;
const buses = BUSES.get(values.bus);
if (buses === undefined) {
  process.stderr.write(`--bus takes ${[...BUSES.keys()].join(', ')}\n`);
  process.exit(2);
}
if (version === undefined || (values.plant !== undefined && planted === null)) {
  process.stderr.write(
    `--postgres takes ${POSTGRES_VERSIONS.join(' or ')}, --plant one of ${PLANTED_FAULTS.join(', ')}\n`,
  );
  process.exit(2);
}

const log = (line: string): void => console.log(`    ${line}`);
const SCENARIOS: ReadonlyMap<string, (folder: string) => Promise<ScenarioReport>> = new Map<
  string,
  (folder: string) => Promise<ScenarioReport>
>([
  ['kill-loop', (folder: string) => runKillLoop({ folder, kills, seed, log })],
  [
    'postgres',
    (folder: string) =>
      runPostgresLoop({ folder, version, faults: faultsOf(kills, seed), seed, log, planted }),
  ],
  [
    'cluster',
    (folder: string) => {
      const faults = rounds === null ? { ms: minutes * MINUTE_MS } : { rounds };
      return runClusterLoop({ folder, version, buses, faults, seed, log, planted });
    },
  ],
  ['devices', (folder: string) => runDevices({ folder, loops, seed, log })],
  ['disk-full', runDiskFull],
  ['refused-stores', runRefusedStores],
  ['drain', runDrain],
  ['endless-body', (folder: string) => runEndlessBody(folder, GIGABYTE)],
  ['sandbox', () => runSandbox({ raceSeconds: RACE_SECONDS, outputGigabytes: OUTPUT_GIGABYTES })],
  ['tools-heap', (folder: string) => runToolsHeap(folder, calls)],
  ['overload', (folder: string) => runOverload(folder, OVERLOAD_SECONDS)],
  ['soak', (folder: string) => runSoak({ folder, minutes, log })],
]);
const names = positionals.length === 0 ? [...SCENARIOS.keys()] : positionals;
const unknown = names.filter((name) => !SCENARIOS.has(name));
if (unknown.length > 0) {
  process.stderr.write(
    `no such scenario: ${unknown.join(', ')}; there are ${[...SCENARIOS.keys()].join(', ')}\n`,
  );
  process.exit(2);
}

const options = `${positionals.join(' ')} --kills ${kills} --loops ${loops} --calls ${calls} --minutes ${minutes} --seed ${seed} --postgres ${version} --bus ${values.bus}${rounds === null ? '' : ` --rounds ${rounds}`}`;
console.log(
  `Patchboard chaos · ${kills} kills · ${loops} loops · ${calls} calls · seed ${seed} · Node ${process.version}`,
);
console.log(`Again: npm run chaos -- ${options.trim()}`);
let broken = 0;
for (const name of names) {
  const began = performance.now();
  console.log(`\n${name}`);
  const report = await withChaosFolder(async (folder) => await SCENARIOS.get(name)?.(folder));
  if (report === undefined) continue;
  const { facts, violations, exchanges, events } = report;
  for (const [fact, value] of Object.entries(facts)) log(`${fact}: ${text(value)}`);
  for (const violation of violations) console.log(`  ✗ ${violation}`);
  if (violations.length > 0) {
    const requests = exchanges?.map((exchange) => JSON.stringify(exchange));
    keep('requests', `patchboard-chaos-${name}-${seed}.jsonl`, requests);
    keep('events', `patchboard-chaos-${name}-${seed}.log`, events);
  }
  broken += violations.length;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(
    `  ${violations.length === 0 ? '✓ every promise held' : `✗ ${violations.length} broken`} (${seconds} s)`,
  );
}
console.log(broken === 0 ? '\nEvery promise held.' : `\n${broken} promises broken; seed ${seed}.`);
process.exitCode = broken === 0 ? 0 : 1;

/** Writes the lines into a file that explains violations. */
function keep(what: string, fileName: string, lines: readonly string[] | undefined): void {
  if (lines === undefined) return;
  const file = join(tmpdir(), fileName);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  log(`${what}: ${file}`);
}

function text(value: unknown): string {
  return typeof value === 'string'
    ? value
    : JSON.stringify(value).replaceAll(/[{}"]/g, '').replaceAll(',', ', ');
}
