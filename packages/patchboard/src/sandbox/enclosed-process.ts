import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { failure, messageOf, type Failure } from '../core/failures.ts';
import { shortageFailure } from '../core/resource-shortage.ts';
import type { CommandLine } from './enclosure.ts';

/** How an enclosed process ended. */
export interface ProcessEnd {
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  /** Why it could not be started; null: it was. */
  readonly problem: Failure | null;
}

export interface ProcessOptions {
  readonly killsTrees: boolean;
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Gives it a channel as descriptor 4, for a program of ours. */
  readonly onMessage?: (message: unknown) => void;
}

/** How a Node inside finds the channel. */
export const CHANNEL_ENVIRONMENT: Readonly<Record<string, string>> = {
  NODE_CHANNEL_FD: '4',
  NODE_CHANNEL_SERIALIZATION_MODE: 'advanced',
};

/** How long output is awaited of what got away from its group, where only the group can be killed. */
const STRAY_OUTPUT_MS = 200;

/**
 * One enclosed command from start to end: `ended` settles when everything it started is gone or being killed. It never
 * rejects, and the constructor does not throw: what could not be started has ended with a problem.
 */
export class EnclosedProcess {
  readonly ended: Promise<ProcessEnd>;
  /** Null: the system refused to start it. */
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
    // Before anything else: without a listener its 'error' ends this process.
    this.ended = this.#end(child);
    listen(child, 'stdout', options);
    listen(child, 'stderr', options);
    if (options.onMessage !== undefined) child.on('message', options.onMessage);
    // Without descriptors there are no streams either, whatever the types say.
    const handshake = (child.stdio as ChildProcess['stdio'] | undefined)?.[3];
    if (handshake instanceof Object) this.#shakeHands(handshake as Duplex);
  }

  /** False: the system refused, and `ended` says why. A program that is missing shows only there. */
  get hasStarted(): boolean {
    return this.#child?.pid !== undefined;
  }

  /** What cannot be sent any more is answered by the end of the process. */
  send(message: object): void {
    if (this.#child?.connected === true) this.#child.send(message, () => {});
  }

  /** Whether this process waits for it to end. */
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
    // The first process of the namespace, for then the one that we see ends only after all of them are gone.
    if (this.#killsTrees && killChildren(pid)) return;
    this.#child?.kill('SIGKILL');
  }

  /** The launcher says that it is inside and waits for the answer. */
  #shakeHands(channel: Duplex): void {
    channel.on('error', () => {}); // the process ended first: its end says all
    channel.once('data', () => {
      this.#entered = true;
      channel.end('\n');
    });
  }

  /**
   * `close` comes after the last byte of output: with namespaces, when no process holds it any more. One that let go of
   * it is killed by the kernel with the namespace, at once but not before this.
   */
  #end(child: ChildProcess): Promise<ProcessEnd> {
    return new Promise((resolve) => {
      child.once('error', (error) => resolve(didNotStart(error)));
      child.once('exit', (code) => {
        // Before the rest of its group is killed: that is no end of the command itself.
        this.#exitCode = this.#isKilled ? null : code;
        if (!this.#killsTrees) leaveStrays(child);
      });
      child.once('close', () => {
        const exitCode = this.#exitCode;
        const isProblem = !this.#entered && exitCode !== null;
        resolve({ exitCode, problem: isProblem ? unavailable('the sandbox did not start') : null });
      });
    });
  }
}

/** The error instead of the child where Node throws it: of the system's refusals it emits some and throws others. */
function start(line: CommandLine, { killsTrees, onMessage }: ProcessOptions): ChildProcess | Error {
  try {
    return spawn(line.file, line.args, {
      cwd: '/',
      env: line.env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(onMessage === undefined ? [] : ['ipc' as const])],
      serialization: 'advanced',
      // A group of its own: where there is no better way, the group is what can be killed.
      detached: !killsTrees,
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

function listen(child: ChildProcess, name: 'stdout' | 'stderr', { onOutput }: ProcessOptions): void {
  const stream = child[name];
  stream?.on('data', (chunk: Buffer) => onOutput(name, chunk));
  stream?.on('error', () => {}); // its end is what counts, and that comes as 'close'
}

function leaveStrays(child: ChildProcess): void {
  if (child.pid !== undefined) killGroup(child.pid);
  const leave = (): void => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  setTimeout(leave, STRAY_OUTPUT_MS).unref();
}

function didNotStart(error: Error): ProcessEnd {
  const problem = shortageFailure(error, 'the command') ?? unavailable(error.message);
  return { exitCode: null, problem };
}

function unavailable(message: string): Failure {
  return failure('sandbox_unavailable', message, { recommendations: ['run: patchboard doctor'] });
}

type Handle = { ref?(): void; unref?(): void } | null | undefined;

/** False: it has none yet, or the system does not say. */
function killChildren(pid: number): boolean {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    const [first = 0] = children;
    return first > 0 && process.kill(first, 'SIGKILL');
  } catch {
    return false;
  }
}

/** ESRCH: none is left in the group. EPERM: all that are left belong to another user. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
