import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { DeviceWord } from './device-worker.ts';
import type { DeviceWorkerOptions } from './device-worker-options.ts';

const WORKER = fileURLToPath(new URL('./device-worker.ts', import.meta.url));
const running: Set<ChildProcess> = new Set();

// Kill all devices when the test process ends, also stopped (SIGSTOP) ones.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A device in a separate process, which can be killed and stopped. */
export class DeviceProcess {
  readonly #options: DeviceWorkerOptions;
  readonly #listeners: Set<(word: DeviceWord) => void> = new Set();
  #child: ChildProcess;

  constructor(options: DeviceWorkerOptions) {
    this.#options = options;
    this.#child = this.#start();
  }

  /** Resolves at the device's next report of this kind for this request. */
  async says(word: DeviceWord['word'], n?: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const listener = (said: DeviceWord): void => {
        if (said.word !== word || (n !== undefined && said.n !== n)) return;
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
    });
  }

  finish(n: number): void {
    if (this.#child.connected) this.#child.send({ finish: n });
  }

  /** Kills the process and starts it again. */
  async restart(): Promise<void> {
    await this.destroy();
    this.#child = this.#start();
  }

  stop(): void {
    this.#child.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child.kill('SIGCONT');
  }

  async destroy(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }

  #start(): ChildProcess {
    const child = fork(WORKER, [JSON.stringify(this.#options)], {
      execArgv: ['--conditions=patchboard-source'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    child.on('message', (word: DeviceWord) => {
      for (const listener of this.#listeners) listener(word);
    });
    return child;
  }
}
