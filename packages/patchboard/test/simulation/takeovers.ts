import type { NodeKey } from '../../src/cluster/node-table.ts';
import type { Kernel } from './kernel.ts';

/** A write of a process that another one had taken over. */
export interface LateWrite {
  readonly process: string;
  readonly method: string;
  readonly lateMs: number;
}

/** Which processes were taken over, noted apart from the fence that must refuse their writes from then on. */
export class Takeovers {
  readonly lateWrites: LateWrite[] = [];
  readonly #kernel: Pick<Kernel, 'now'>;
  /** Simulated milliseconds, by writer and epoch. */
  readonly #at: Map<string, number> = new Map();

  constructor(kernel: Pick<Kernel, 'now'>) {
    this.#kernel = kernel;
  }

  note(dead: NodeKey): void {
    this.#at.set(keyOf(dead), this.#kernel.now);
  }

  /** A write of the process was committed. */
  committed(process: string, self: NodeKey, method: string): void {
    const at = this.#at.get(keyOf(self));
    if (at !== undefined) this.lateWrites.push({ process, method, lateMs: this.#kernel.now - at });
  }
}

function keyOf({ writer, epoch }: NodeKey): string {
  return `${writer}.${epoch}`;
}
