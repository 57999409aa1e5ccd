import { StorageFull, StorageUnavailable } from '../../src/core/failures.ts';
import type { Kernel } from './kernel.ts';

/**
 * `slow`: every request takes much longer. `stalled`: no request is executed until it is over. `full`: writes are rejected.
 * `down`: all requests are rejected.
 */
export const STORE_FAULTS = ['slow', 'stalled', 'full', 'down'] as const;
export type StoreFault = (typeof STORE_FAULTS)[number];

const SLOW_FACTOR = 20;
/** How often a request that is stalled looks whether the fault is over. */
const LOOK_MS = 100;

/** The faults that the store has now. */
export class StoreFaults {
  readonly #kernel: Kernel;
  readonly #until: Map<StoreFault, number> = new Map();
  readonly #wider: StoreFaults | null;

  /** `wider`: faults that also apply here. */
  constructor(kernel: Kernel, wider: StoreFaults | null = null) {
    this.#kernel = kernel;
    this.#wider = wider;
  }

  begin(fault: StoreFault, ms: number): void {
    this.#until.set(fault, Math.max(this.#until.get(fault) ?? 0, this.#kernel.now + ms));
  }

  clear(): void {
    this.#until.clear();
  }

  has(fault: StoreFault): boolean {
    return this.#endOf(fault) > this.#kernel.now;
  }

  get factor(): number {
    return this.has('slow') ? SLOW_FACTOR : 1;
  }

  async notStalled(): Promise<void> {
    while (this.has('stalled'))
      await this.#kernel.sleep(Math.min(LOOK_MS, this.#endOf('stalled') - this.#kernel.now));
  }

  /** Returns why the store refuses a request now; null if it does not. */
  refusal(isWrite: boolean): Error | null {
    if (this.has('down')) return new StorageUnavailable('the simulated store is down');
    return isWrite && this.has('full') ? new StorageFull('the simulated store is full') : null;
  }

  /** As `Store.writeProblem`. */
  get problem(): string | null {
    return this.refusal(true)?.message ?? null;
  }

  #endOf(fault: StoreFault): number {
    const wider = this.#wider === null ? 0 : this.#wider.#endOf(fault);
    return Math.max(this.#until.get(fault) ?? 0, wider);
  }
}
