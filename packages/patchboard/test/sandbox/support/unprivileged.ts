/** Drops root, then tries the escapes of the escape suite, and prints the results as JSON. */
import { spawn } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { aSandboxSetup } from './a-sandbox-setup.ts';
import { forkBomb } from './fork-bomb.ts';
import { aMark, processesWith } from './processes.ts';

/** The results for a server that is not root. */
export interface UnprivilegedReport {
  readonly serverUid: number;
  readonly problem: string | null;
  readonly canary: readonly { readonly check: string; readonly held: boolean }[];
  /** Null if there is no sandbox. */
  readonly tried: {
    readonly provider: string;
    readonly commandUid: string;
    readonly status: string;
    readonly seen: string;
    readonly wroteOutside: boolean;
    readonly connections: number;
    readonly bystander: string;
    readonly mostProcesses: number;
    readonly survivors: number;
  } | null;
}

const [secret = ''] = process.argv.slice(3);
const uid = Number(process.argv[2]);
const processes = Number(process.argv[4]);
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}
process.env['PLANTED_IN_ENVIRONMENT'] = secret;
const bench = await aSandboxSetup({ limits: { processes, timeoutMs: 20_000 } });
const { problem, canary } = bench.report;
const tried = problem === null ? await attempt() : null;
const report: UnprivilegedReport = { serverUid: process.getuid?.() ?? 0, problem, canary, tried };
await bench.close();
process.stdout.write(`${JSON.stringify(report)}\n`);

async function attempt(): Promise<UnprivilegedReport['tried']> {
  const sandbox = bench.sandbox();
  const outside = join(bench.folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'secret.txt'), secret);
  symlinkSync(join(outside, 'secret.txt'), join(sandbox.root, 'link'));
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const bystander = spawn('sleep', ['300']);
  const ended = new Promise<string>((resolve) => bystander.once('exit', (_code, by) => resolve(String(by))));
  const shell = await sandbox.exec(
    `cat '${join(outside, 'secret.txt')}' link /proc/${process.pid}/environ; env; echo x > '${join(outside, 'written')}'; ` +
      `(exec 5<>/dev/tcp/127.0.0.1/${port}) && echo connected; kill -9 ${bystander.pid} ${process.pid}`,
  );
  const reads = await Promise.all(
    ['link', join(outside, 'secret.txt'), '../../../outside/secret.txt'].map((path) =>
      sandbox.readFile(path).catch(String),
    ),
  );
  const mark = aMark();
  const mostProcesses = await forkBomb(sandbox, mark);
  const { stdout: status } = await sandbox.exec('grep -E "CapEff|NoNewPrivs" /proc/self/status');
  const { stdout: commandUid } = await sandbox.exec('id -u');
  bystander.kill('SIGTERM');
  server.close();
  return {
    provider: sandbox.provider,
    commandUid: commandUid.trim(),
    status,
    seen: [shell.stdout, shell.stderr, ...reads].join('\n'),
    wroteOutside: existsSync(join(outside, 'written')),
    connections,
    bystander: await ended,
    mostProcesses,
    survivors: processesWith(mark).length,
  };
}
