import {
  aSandboxSetup,
  type OpenBench,
} from '../../packages/patchboard/test/sandbox/support/a-sandbox-setup.ts';
import { swapRace, type RaceResult } from '../../packages/patchboard/test/sandbox/support/swap-race.ts';
import { Findings, type ScenarioReport } from './scenario.ts';

const GIGABYTE = 1e9;
const FLAT_BYTES = 150e6;

export interface SandboxOptions {
  readonly raceSeconds: number;
  readonly outputGigabytes: number;
}

/** V2 and V24 in full: a folder that is swapped for a symlink during access, and endless output. */
export async function runSandbox({ raceSeconds, outputGigabytes }: SandboxOptions): Promise<ScenarioReport> {
  const findings = new Findings();
  const enclosed = await withBench({}, async (bench) => {
    findings.check(bench.report.problem === null, `there is no sandbox: ${bench.report.problem ?? ''}`);
    return await race(bench, raceSeconds, findings);
  });
  const alone = await withBench({ searchPath: '/nowhere', unsafeNoSandbox: true }, async (bench) =>
    race(bench, raceSeconds / 4, findings),
  );
  const output = await withBench({ limits: { timeoutMs: 600_000 } }, async (bench) =>
    writeOutput(bench, outputGigabytes, findings),
  );
  return { facts: { enclosed, 'the walk alone': alone, output }, violations: findings.violations };
}

async function race(bench: OpenBench, seconds: number, findings: Findings): Promise<RaceResult> {
  const until = performance.now() + seconds * 1000;
  const result = await swapRace(bench, () => performance.now() > until);
  findings.check(result.leaks === 0, `${result.leaks} reads saw what is outside`);
  findings.check(result.escapes === 0, 'a file was written outside');
  findings.check(result.swaps > 0 && result.found > 0 && result.refused > 0, 'nothing was tried');
  return result;
}

async function writeOutput(
  bench: OpenBench,
  gigabytes: number,
  findings: Findings,
): Promise<Record<string, unknown>> {
  const before = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 50);
  const command = `head -c ${gigabytes * GIGABYTE} /dev/zero; echo end`;
  const { stdout, exitCode, stdoutTruncated } = await bench.sandbox().exec(command);
  clearInterval(watch);
  const grown = Math.max(0, most - before);
  findings.check(
    exitCode === 0 && stdoutTruncated && stdout.endsWith('end\n'),
    'the output was not kept as promised',
  );
  findings.check(grown < FLAT_BYTES, `memory grew by ${Math.round(grown / 1e6)} MB`);
  return { gigabytes, 'memory grew by MB': Math.round(grown / 1e6) };
}

async function withBench<T>(
  options: Parameters<typeof aSandboxSetup>[0],
  use: (bench: OpenBench) => Promise<T>,
): Promise<T> {
  const bench = await aSandboxSetup(options);
  try {
    return await use(bench);
  } finally {
    await bench.close();
  }
}
