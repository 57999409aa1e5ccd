import type { Kernel } from './kernel.ts';
import { SimulatedClock } from './simulated-clock.ts';

/**
 * One simulated operating system process. Everything that reaches it (timers, results of the store, requests) goes through
 * `enter`: while the process is paused, entries are kept in their order; a killed process never sees them.
 */
export class SimulatedProcess {
  /** The node that it runs, and the number of this process among those of the node. */
  readonly node: string;
  readonly incarnation: number;
  readonly clock: SimulatedClock;
  readonly #kernel: Kernel;
  readonly #kept: (() => void)[] = [];
  readonly #endListeners: (() => void)[] = [];
  #state: 'running' | 'paused' | 'dead' = 'running';
  #isCatchingUp = false;

  constructor(kernel: Kernel, node: string, incarnation: number, skewMs: number) {
    this.#kernel = kernel;
    this.node = node;
    this.incarnation = incarnation;
    this.clock = new SimulatedClock(kernel, skewMs, (action) => this.enter(action));
  }

  get name(): string {
    return `${this.node}.${this.incarnation}`;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  get isPaused(): boolean {
    return this.#state === 'paused';
  }

  /** Runs `action` inside the process: now, after its pause, or never. */
  enter(action: () => void): void {
    if (this.#state === 'dead') return;
    if (this.#state === 'paused' || this.#isCatchingUp) this.#kept.push(action);
    else action();
  }

  /** As SIGSTOP: the process computes nothing, and its monotonic time goes on. */
  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  wake(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    this.#catchUp();
  }

  /** As SIGKILL. */
  kill(): void {
    if (this.#state === 'dead') return;
    this.#state = 'dead';
    this.#kept.length = 0;
    this.clock.stop();
    for (const listener of this.#endListeners) listener();
  }

  onKilled(listener: () => void): void {
    this.#endListeners.push(listener);
  }

  /** What was kept runs in its order, one event each. */
  #catchUp(): void {
    this.#kernel.after(0, () => {
      if (this.#state !== 'running') {
        this.#isCatchingUp = false;
        return;
      }
      const action = this.#kept.shift();
      if (action === undefined) {
        this.#isCatchingUp = false;
        return;
      }
      this.#catchUp();
      action();
    });
  }
}
