import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Socket } from 'node:net';

/** Reads a line, which tells that the server has ended. Without it the parent has died: ends the server, removes the folder. */
const WATCHDOG = `read -r line && exit 0
kill -s "$1" "$2" 2>/dev/null
while kill -0 "$2" 2>/dev/null; do sleep 0.1; done
rm -rf "$3"`;

export interface ServerChild {
  isRunning(): boolean;
  /** Resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
  /** What the server prints to stderr when it accepts connections. */
  readonly ready: string;
  /** Ends the server at once. */
  readonly endSignal: NodeJS.Signals;
  /** Removed if this process dies before the server. */
  readonly folder: string;
}

/** Rejects with the end of its log if the server ends before it is ready. It ends with this process, even with a killed one. */
export async function startServerChild(command: ServerCommand): Promise<ServerChild> {
  const child = spawn(command.program, command.args, {
    ...command.options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  if (child.pid !== undefined) watch(child, command);
  await untilReady(child, command);
  // A server that tests share must not keep this process running.
  child.unref();
  (child.stderr as Socket).unref();
  return {
    isRunning: () => isRunning(child),
    end: async (signal) => {
      child.ref();
      if (isRunning(child)) child.kill(signal);
      await ended;
    },
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function untilReady(child: ChildProcess, { program, ready }: ServerCommand): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (log.includes(ready)) resolve();
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`${program} ended with code ${code}: ${log}`)));
  });
}

function watch(child: ChildProcess, { endSignal, folder }: ServerCommand): void {
  const args = ['-c', WATCHDOG, 'watchdog', endSignal.replace('SIG', ''), String(child.pid), folder];
  // Its own process group: a terminal sends SIGINT to the group of the tests.
  const watchdog = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watchdog.unref();
  (watchdog.stdin as Socket).unref();
  child.once('exit', () => watchdog.stdin?.end('ended\n'));
}
