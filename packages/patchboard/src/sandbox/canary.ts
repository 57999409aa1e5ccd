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

/** What the canary tried to do, and whether it was kept from it. */
export interface CanaryResult {
  readonly check: 'start' | 'read' | 'write' | 'network' | 'signal';
  readonly held: boolean;
}

export interface CanaryReport {
  readonly results: readonly CanaryResult[];
  /** Null: the sandbox holds. */
  readonly problem: string | null;
}

/** Tries everything that it must not be able to do, and says what it got. */
const SCRIPT = `
echo alive
cat "$1" 2>/dev/null
echo broken >"$2" 2>/dev/null
echo broken >"$1" 2>/dev/null
(exec 5<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null && echo connected
kill -9 "$4" 2>/dev/null
exit 0
`;
const PATIENCE_MS = 15_000;

/** Not what a version number says but what really happens: a bird that must not get out. */
export async function runCanary(enclosure: Enclosure, folder: string): Promise<CanaryReport> {
  const secret = randomBytes(16).toString('hex');
  const outside = join(folder, `canary-${secret.slice(0, 8)}`);
  const root = join(outside, 'workspace');
  const planted = join(outside, 'planted');
  const written = join(outside, 'written');
  await mkdir(outside, { recursive: true });
  const listener = await listen();
  let bystander: Bystander | null = null;
  try {
    bystander = await Bystander.start();
    makeWorkspace(root);
    await writeFile(planted, secret);
    const args = [planted, written, String(listener.port), String(bystander.pid)];
    const { output, problem } = await release(enclosure, root, args);
    const started = problem === null && output.includes('alive');
    const results: CanaryResult[] = [
      { check: 'start', held: started },
      { check: 'read', held: started && !output.includes(secret) },
      {
        check: 'write',
        held: started && !existsSync(written) && (await readFile(planted, 'utf8')) === secret,
      },
      { check: 'network', held: started && listener.connections() === 0 && !output.includes('connected') },
      { check: 'signal', held: (await bystander.endedByUs()) && started },
    ];
    return { results, problem: describe(results, problem, output) };
  } finally {
    await bystander?.endedByUs();
    listener.server.close();
    await rm(outside, { recursive: true, force: true });
  }
}

async function release(
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
  const bird = new EnclosedProcess(line, {
    killsTrees: enclosure.killsTrees,
    onOutput: (_stream, chunk) => (output += chunk.toString('utf8')),
  });
  const overdue = setTimeout(() => bird.kill(), PATIENCE_MS);
  const { problem } = await bird.ended;
  clearTimeout(overdue);
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

/** A process outside that must not be hit. */
class Bystander {
  readonly #child: ChildProcess;
  readonly #signal: Promise<string | null>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#signal = once(child, 'exit').then(([, signal]) => signal as string | null);
  }

  /** Rejects where the system starts no process. */
  static async start(): Promise<Bystander> {
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    return new Bystander(child);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Ends it, and says whether it was still there to be ended. */
  async endedByUs(): Promise<boolean> {
    this.#child.kill('SIGTERM');
    return (await this.#signal) === 'SIGTERM';
  }
}

function describe(results: readonly CanaryResult[], problem: string | null, output: string): string | null {
  const said = output.trim().split('\n', 1)[0] ?? '';
  if (problem !== null) return said === '' ? problem : `${problem}: ${said}`;
  const broken = results.filter(({ held }) => !held).map(({ check }) => check);
  return broken.length === 0 ? null : `it did not hold: ${broken.join(', ')}`;
}
