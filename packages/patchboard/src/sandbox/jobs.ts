import { withoutHalfCharacter } from '../core/json/utf8-bytes.ts';
import type { JobLog, LogOptions } from '../core/sandbox.ts';
import type { EnclosedProcess, ProcessEnd } from './enclosed-process.ts';
import { Ring } from './kept-output.ts';
import { longTimeout } from './long-timeout.ts';

/** A command in the background, with the last part of its output. */
export class Job {
  readonly id: string;
  readonly ended: Promise<ProcessEnd>;
  readonly #process: EnclosedProcess;
  readonly #log: Ring;
  readonly #listeners: Set<() => void> = new Set();
  #status: JobLog['status'] = 'running';
  #exitCode: number | null = null;

  constructor(
    id: string,
    options: { outputBytes: number; lifeMs: number },
    start: (onOutput: (chunk: Buffer) => void) => EnclosedProcess,
  ) {
    this.id = id;
    this.#log = new Ring(options.outputBytes);
    this.#process = start((chunk) => {
      this.#log.push(chunk);
      this.#notify();
    });
    const disarm = longTimeout(options.lifeMs, () => this.kill());
    this.ended = this.#process.ended.then((end) => {
      disarm();
      this.#exitCode = end.exitCode;
      this.#status = end.exitCode === null ? 'killed' : 'exited';
      this.#notify();
      return end;
    });
  }

  get hasStarted(): boolean {
    return this.#process.hasStarted;
  }

  get isRunning(): boolean {
    return this.#status === 'running';
  }

  /** Kills the command and all processes that it started. */
  kill(): void {
    if (this.isRunning) this.#process.kill();
  }

  read(offset: number): JobLog {
    const found = this.#log.from(offset);
    // The rest of a character may follow.
    const bytes = this.isRunning ? withoutHalfCharacter(found.bytes) : found.bytes;
    const { start } = found;
    return {
      output: bytes.toString('utf8'),
      offset: start,
      nextOffset: start + bytes.length,
      status: this.#status,
      exitCode: this.#exitCode,
    };
  }

  /** Resolves when there is output beyond `offset`, the job has ended or the signal is aborted. */
  async waitForOutput({ offset = 0, signal }: LogOptions): Promise<void> {
    while (this.isRunning && this.#log.end <= offset && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#listeners.delete(done);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        this.#listeners.add(done);
        signal?.addEventListener('abort', done, { once: true });
      });
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
