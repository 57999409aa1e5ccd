import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import type { CommandLine } from './enclosure.ts';

/** How an enclosed process ended. */
export interface ProcessEnd {
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  /** Why it could not be started; null: it was. */
  readonly problem: string | null;
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

/** One enclosed command from start to end: `ended` settles when everything it started is gone or being killed. */
export class EnclosedProcess {
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #killsTrees: boolean;
  #entered = false;
  #isKilled = false;
  #exitCode: number | null = null;
  #keepsAlive = true;

  constructor(line: CommandLine, options: ProcessOptions) {
    this.#killsTrees = options.killsTrees;
    this.#child = spawn(line.file, line.args, {
      cwd: '/',
      env: line.env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(options.onMessage === undefined ? [] : ['ipc' as const])],
      serialization: 'advanced',
      // A group of its own: where there is no better way, the group is what can be killed.
      detached: !options.killsTrees,
    });
    this.#listen('stdout', options);
    this.#listen('stderr', options);
    if (options.onMessage !== undefined) this.#child.on('message', options.onMessage);
    this.#shakeHands(this.#child.stdio[3] as Duplex);
    this.ended = this.#end();
  }

  /** What cannot be sent any more is answered by the end of the process. */
  send(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Whether this process waits for it to end. */
  keepsAlive(yes: boolean): void {
    if (this.#keepsAlive === yes) return;
    this.#keepsAlive = yes;
    const { stdout, stderr, channel } = this.#child;
    for (const handle of [this.#child, channel, stdout, stderr] as Handle[]) {
      if (yes) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    this.#isKilled = true;
    if (!this.#killsTrees) killGroup(pid);
    // The first process of the namespace, for then the one that we see ends only after all of them are gone.
    if (this.#killsTrees && killChildren(pid)) return;
    this.#child.kill('SIGKILL');
  }

  #listen(name: 'stdout' | 'stderr', { onOutput }: ProcessOptions): void {
    const stream = this.#child[name] as Readable;
    stream.on('data', (chunk: Buffer) => onOutput(name, chunk));
    stream.on('error', () => {}); // its end is what counts, and that comes as 'close'
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
  #end(): Promise<ProcessEnd> {
    return new Promise((resolve) => {
      this.#child.once('error', (error) => resolve({ exitCode: null, problem: error.message }));
      this.#child.once('exit', (code) => {
        // Before the rest of its group is killed: that is no end of the command itself.
        this.#exitCode = this.#isKilled ? null : code;
        if (!this.#killsTrees) this.#leaveStrays();
      });
      this.#child.once('close', () => {
        const exitCode = this.#exitCode;
        const problem = this.#entered || exitCode === null ? null : 'the sandbox did not start';
        resolve({ exitCode, problem });
      });
    });
  }

  #leaveStrays(): void {
    if (this.#child.pid !== undefined) killGroup(this.#child.pid);
    const leave = (): void => {
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
    };
    setTimeout(leave, STRAY_OUTPUT_MS).unref();
  }
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
