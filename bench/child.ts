import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import process from 'node:process';

const READY_MS = 60_000;
const STOP_MS = 20_000;
const started: Set<ChildProcess> = new Set();

// Ends all child processes when this process ends.
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a script of this folder, with more options of Node, and waits for the line that holds its URL. */
export async function startServer(
  script: string,
  settings: unknown,
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  return await untilReady(start(script, settings, nodeOptions));
}

/** Starts a program and waits for the line that holds its URL. Its log is discarded. */
export async function startProgram(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  return await untilReady(track(spawn(command, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })));
}

async function untilReady(child: ChildProcess): Promise<ServerProcess> {
  const url = await firstMatch(child, /https?:\/\/\S+/);
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Runs a script of this folder to its end and returns its last line of output, parsed as JSON. */
export async function runScript<T>(script: string, settings: unknown): Promise<T> {
  const child = start(script, settings);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  const line = output.trim().split('\n').at(-1) ?? '';
  if (code !== 0 || line === '') throw new Error(`${script} ended with code ${code}`);
  return JSON.parse(line) as T;
}

function start(script: string, settings: unknown, nodeOptions: readonly string[] = []): ChildProcess {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const args = [...process.execArgv, ...nodeOptions, file, JSON.stringify(settings)];
  return track(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
}

function track(child: ChildProcess): ChildProcess {
  started.add(child);
  child.once('exit', () => started.delete(child));
  return child;
}

async function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  let output = '';
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('the server did not become ready'));
    }, READY_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the server ended with code ${code} before it was ready`));
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const match = pattern.exec(output);
      if (match === null) return;
      clearTimeout(timer);
      resolve(match[0]);
    });
  });
}
