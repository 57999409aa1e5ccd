import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { EnclosedProcess } from './enclosed-process.ts';
import type { Enclosure } from './enclosure.ts';
import { makeWorkspace, userOf } from './sandbox-user.ts';

/** One attempt of the canary, and whether the sandbox prevented it. */
export interface CanaryResult {
  readonly check: 'start' | 'read' | 'write' | 'network' | 'signal';
  readonly held: boolean;
}

export interface CanaryReport {
  readonly results: readonly CanaryResult[];
  /** Null if the sandbox prevented every attempt. */
  readonly problem: string | null;
}

/** Tries everything that a sandboxed command must not be able to do, and prints what succeeded. */
const SCRIPT = `
echo alive
cat "$1" 2>/dev/null
echo broken >"$2" 2>/dev/null
echo broken >"$1" 2>/dev/null
(exec 5<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null && echo connected
kill -9 "$4" 2>/dev/null
exit 0
`;
const TIMEOUT_MS = 15_000;

/** Runs a script in the sandbox that tries to break out, and reports the attempts. */
export async function runCanary(enclosure: Enclosure, folder: string): Promise<CanaryReport> {
  const secret = randomBytes(16).toString('hex');
  const outside = join(folder, `canary-${secret.slice(0, 8)}`);
  const root = join(outside, 'workspace');
  const planted = join(outside, 'planted');
  const written = join(outside, 'written');
  await mkdir(outside, { recursive: true });
  const listener = await listen();
  let target: SignalTarget | null = null;
  try {
    target = await SignalTarget.start();
    makeWorkspace(root);
    await writeFile(planted, secret);
    const args = [planted, written, String(listener.port), String(target.pid)];
    const { output, problem } = await runScript(enclosure, root, args);
    const started = problem === null && output.includes('alive');
    const results: CanaryResult[] = [
      { check: 'start', held: started },
      { check: 'read', held: started && !output.includes(secret) },
      {
        check: 'write',
        held: started && !existsSync(written) && (await readFile(planted, 'utf8')) === secret,
      },
      { check: 'network', held: started && listener.connections() === 0 && !output.includes('connected') },
      { check: 'signal', held: (await target.end()) && started },
    ];
    return { results, problem: describe(results, problem, output) };
  } finally {
    await target?.end();
    listener.server.close();
    await rm(outside, { recursive: true, force: true });
  }
}

async function runScript(
  enclosure: Enclosure,
  root: string,
  args: readonly string[],
): Promise<{ output: string; problem: string | null }> {
  const line = enclosure.wrap({
    argv: ['bash', '-c', SCRIPT, 'canary', ...args],
    root,
    cwd: root,
    network: false,
    environment: {},
    user: userOf(root),
  });
  let output = '';
  const canary = new EnclosedProcess(line, {
    killsTrees: enclosure.killsTrees,
    onOutput: (_stream, chunk) => (output += chunk.toString('utf8')),
  });
  const timeout = setTimeout(() => canary.kill(), TIMEOUT_MS);
  const { problem } = await canary.ended;
  clearTimeout(timeout);
  return { output, problem: problem?.message ?? null };
}

async function listen(): Promise<{ server: Server; port: number; connections: () => number }> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return { server, port: (server.address() as AddressInfo).port, connections: () => count };
}

/** A process outside the sandbox, which the canary must not be able to signal. */
class SignalTarget {
  readonly #child: ChildProcess;
  readonly #signal: Promise<string | null>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#signal = once(child, 'exit').then(([, signal]) => signal as string | null);
  }

  /** Rejects if the process cannot be started. */
  static async start(): Promise<SignalTarget> {
    // Waits for the end of its stdin. A shell starts in a tenth of the time that Node takes.
    const child = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await once(child, 'spawn');
    return new SignalTarget(child);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Ends the process. Resolves to false if something else had ended it before. */
  async end(): Promise<boolean> {
    this.#child.kill('SIGTERM');
    return (await this.#signal) === 'SIGTERM';
  }
}

function describe(results: readonly CanaryResult[], problem: string | null, output: string): string | null {
  const firstLine = output.trim().split('\n', 1)[0] ?? '';
  if (problem !== null) return firstLine === '' ? problem : `${problem}: ${firstLine}`;
  const failed = results.filter(({ held }) => !held).map(({ check }) => check);
  return failed.length === 0 ? null : `these checks failed: ${failed.join(', ')}`;
}
