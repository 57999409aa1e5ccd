import { reason, type Reason } from '@patchboard/wire';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { failure, foreignText, messageOf, type Failure } from '../core/failures.ts';
import { shortageFailure } from '../core/resource-shortage.ts';
import type { CommandLine } from './enclosure.ts';

/** How an enclosed process ended. */
export interface ProcessEnd {
  /** Null if a signal ended the process. */
  readonly exitCode: number | null;
  /** Why the process could not be started; null if it was. */
  readonly problem: Failure | null;
}

export interface ProcessOptions {
  readonly killsTrees: boolean;
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Opens an IPC channel on descriptor 4, for Patchboard's own programs. */
  readonly onMessage?: (message: unknown) => void;
}

/** The variables by which Node inside the sandbox finds the IPC channel. */
export const CHANNEL_ENVIRONMENT: Readonly<Record<string, string>> = {
  NODE_CHANNEL_FD: '4',
  NODE_CHANNEL_SERIALIZATION_MODE: 'advanced',
};

/** How long to wait for output of processes that left the process group, where only the group can be killed. */
const STRAY_OUTPUT_MS = 200;

/**
 * One sandboxed command. `ended` resolves when all its processes are gone or being killed. It never rejects, and the
 * constructor does not throw: if the process cannot be started, `ended` resolves with a problem.
 */
export class EnclosedProcess {
  readonly ended: Promise<ProcessEnd>;
  /** Null if `spawn` threw. */
  readonly #child: ChildProcess | null;
  readonly #killsTrees: boolean;
  #entered = false;
  #isKilled = false;
  #exitCode: number | null = null;
  #keepsAlive = true;

  constructor(line: CommandLine, options: ProcessOptions) {
    this.#killsTrees = options.killsTrees;
    const child = start(line, options);
    if (child instanceof Error) {
      this.#child = null;
      this.ended = Promise.resolve(didNotStart(child));
      return;
    }
    this.#child = child;
    // First of all: without an 'error' listener, a failed spawn would end this process.
    this.ended = this.#end(child);
    listen(child, 'stdout', options);
    listen(child, 'stderr', options);
    if (options.onMessage !== undefined) child.on('message', options.onMessage);
    // Undefined, in spite of its type, if the process ran out of descriptors.
    const handshake = (child.stdio as ChildProcess['stdio'] | undefined)?.[3];
    if (handshake instanceof Object) this.#completeHandshake(handshake as Duplex);
  }

  /** False if the process has no pid; `ended` then resolves with the reason. */
  get hasStarted(): boolean {
    return this.#child?.pid !== undefined;
  }

  /** Drops the message if the channel is closed: `ended` then settles the pending requests. */
  send(message: object): void {
    if (this.#child?.connected === true) this.#child.send(message, () => {});
  }

  /** Sets whether the event loop stays alive until the process ends. */
  keepsAlive(yes: boolean): void {
    if (this.#keepsAlive === yes) return;
    this.#keepsAlive = yes;
    if (this.#child === null) return;
    const { stdout, stderr, channel } = this.#child;
    for (const handle of [this.#child, channel, stdout, stderr] as Handle[]) {
      if (yes) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  kill(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    this.#isKilled = true;
    if (!this.#killsTrees) killGroup(pid);
    // Kills the init process of the namespace, so that the process we spawned ends only after all others are gone.
    if (this.#killsTrees && killChildren(pid)) return;
    this.#child?.kill('SIGKILL');
  }

  /** The launcher writes a line when it runs inside the sandbox, and waits for a line from us. */
  #completeHandshake(channel: Duplex): void {
    channel.on('error', () => {}); // the process ended first, which `ended` reports
    channel.once('data', () => {
      this.#entered = true;
      channel.end('\n');
    });
  }

  /**
   * `close` follows the last byte of output: with namespaces, when no process has the pipes open. A process that closed
   * them is killed by the kernel with the namespace, possibly shortly after this.
   */
  #end(child: ChildProcess): Promise<ProcessEnd> {
    return new Promise((resolve) => {
      child.once('error', (error) => resolve(didNotStart(error)));
      child.once('exit', (code) => {
        // Read before the rest of the group is killed, which does not change how the command itself ended.
        this.#exitCode = this.#isKilled ? null : code;
        if (!this.#killsTrees) abandonGroup(child);
      });
      child.once('close', () => {
        const exitCode = this.#exitCode;
        const isProblem = !this.#entered && exitCode !== null;
        resolve({ exitCode, problem: isProblem ? unavailable(reason('sandbox_not_started')) : null });
      });
    });
  }
}

/** Returns the error if `spawn` throws: Node throws some spawn errors and emits others. */
function start(line: CommandLine, { killsTrees, onMessage }: ProcessOptions): ChildProcess | Error {
  try {
    return spawn(line.file, line.args, {
      cwd: '/',
      env: line.env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(onMessage === undefined ? [] : ['ipc' as const])],
      serialization: 'advanced',
      // A separate process group, which can be killed as a whole where there is no namespace.
      detached: !killsTrees,
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

function listen(child: ChildProcess, name: 'stdout' | 'stderr', { onOutput }: ProcessOptions): void {
  const stream = child[name];
  stream?.on('data', (chunk: Buffer) => onOutput(name, chunk));
  stream?.on('error', () => {}); // 'close' follows, and settles `ended`
}

/** Kills the process group, and stops reading output from processes that left the group. */
function abandonGroup(child: ChildProcess): void {
  if (child.pid !== undefined) killGroup(child.pid);
  const closePipes = (): void => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  setTimeout(closePipes, STRAY_OUTPUT_MS).unref();
}

function didNotStart(error: Error): ProcessEnd {
  const problem = shortageFailure(error, 'command') ?? unavailable(foreignText(error.message));
  return { exitCode: null, problem };
}

function unavailable(why: Reason): Failure {
  return failure('sandbox_unavailable', why, { recommendations: ['run: patchboard doctor'] });
}

type Handle = { ref?(): void; unref?(): void } | null | undefined;

/** Returns false if the process has no child yet, or if /proc is not available. */
function killChildren(pid: number): boolean {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    const [first = 0] = children;
    return first > 0 && process.kill(first, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Ignores ESRCH (the group is empty) and EPERM (all remaining processes belong to another user). */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
