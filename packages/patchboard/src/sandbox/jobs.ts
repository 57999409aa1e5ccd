import type { JobLog, LogOptions } from '../core/sandbox.ts';
import type { EnclosedProcess, ProcessEnd } from './enclosed-process.ts';
import { Ring } from './kept-output.ts';
import { longTimeout } from './long-timeout.ts';

/** Leaves out the beginning of a character of UTF-8 at the end. */
function withoutHalfCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

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
