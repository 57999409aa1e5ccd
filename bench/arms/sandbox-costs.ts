// Commands and file reads with and without the sandbox, sequentially in one process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { aSandboxSetup } from '../../packages/patchboard/test/sandbox/support/a-sandbox-setup.ts';

export interface SandboxCostSettings {
  readonly commands: number;
  readonly reads: number;
}

/** Milliseconds per operation. */
export interface SandboxCosts {
  readonly enclosedMs: number;
  readonly spawnMs: number;
  readonly firstReadMs: number;
  readonly enclosedReadMs: number;
  readonly readMs: number;
}

const { commands, reads } = JSON.parse(process.argv[2] ?? '') as SandboxCostSettings;
const bench = await aSandboxSetup();
if (bench.report.problem !== null) throw new Error(bench.report.problem);
const sandbox = bench.sandbox();
await sandbox.exec('true');
const enclosedMs = await msOf(commands, () => sandbox.exec('true'));
const spawnMs = await msOf(commands, () => once(spawn('bash', ['-c', 'true'], { stdio: 'pipe' }), 'close'));
const firstReadMs = await msOf(1, () => sandbox.writeFile('file.txt', 'x'.repeat(4096)));
await sandbox.readFile('file.txt');
const enclosedReadMs = await msOf(reads, () => sandbox.readFile('file.txt'));
const readMs = await msOf(reads, () => readFile(join(sandbox.root, 'file.txt'), 'utf8'));
await bench.close();
const costs: SandboxCosts = { enclosedMs, spawnMs, firstReadMs, enclosedReadMs, readMs };
process.stdout.write(`${JSON.stringify(costs)}\n`);

async function msOf(times: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let count = 0; count < times; count += 1) await work();
  return (performance.now() - began) / times;
}
