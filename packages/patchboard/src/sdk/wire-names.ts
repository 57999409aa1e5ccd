import { hash } from 'node:crypto';
import type { Digest } from '../core/ports.ts';
import { toWireName } from '../core/tools/tool-names.ts';

const DIGEST: Digest = { sha256: (text) => hash('sha256', text, 'hex') };

/**
 * The wire names of a set of tools, by the same rule as the registry of a board, so that a board made from the same tools
 * has the same wire names.
 */
export class WireNames {
  readonly #byName: Map<string, string> = new Map();
  readonly #byWireName: Map<string, string> = new Map();

  of(name: string): string | undefined {
    return this.#byName.get(name);
  }

  /** Returns the name of the tool with this wire name. */
  holder(wireName: string): string | undefined {
    return this.#byWireName.get(wireName);
  }

  add(name: string): void {
    const isFree = (candidate: string): boolean =>
      candidate === name || (!this.#byName.has(candidate) && !this.#byWireName.has(candidate));
    const wireName = toWireName(name, isFree, DIGEST);
    this.#byName.set(name, wireName);
    this.#byWireName.set(wireName, name);
  }

  remove(name: string): void {
    const wireName = this.#byName.get(name);
    if (wireName === undefined) return;
    this.#byName.delete(name);
    this.#byWireName.delete(wireName);
  }
}
