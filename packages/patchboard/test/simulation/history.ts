import type { Call } from '../../src/core/call/call.ts';
import type { Kernel } from './kernel.ts';

/** One thing that happened, as seen from outside the engines. */
export interface Entry {
  /** Simulated milliseconds. */
  readonly at: number;
  /** The step, process or tool that it concerns. */
  readonly who: string;
  readonly what: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A version of a call that a response showed. */
export interface SeenCall {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly code?: string;
  readonly outcome?: string;
  /** JSON text of the result of a COMPLETED call. */
  readonly result?: string;
}

/** What was sent, what came back and what was done to the nodes: one line each, byte for byte the same for a seed. */
export class History {
  readonly entries: Entry[] = [];
  readonly #kernel: Pick<Kernel, 'now'>;
  /** Short names of calls, in the order in which they are mentioned. */
  readonly #names: Map<string, string> = new Map();

  constructor(kernel: Pick<Kernel, 'now'>) {
    this.#kernel = kernel;
  }

  add(who: string, what: string, data: Readonly<Record<string, unknown>> = {}): void {
    this.entries.push({ at: this.#kernel.now, who, what, data });
  }

  /** The entries of one kind. */
  of(what: string): Entry[] {
    return this.entries.filter((entry) => entry.what === what);
  }

  lines(): string[] {
    return this.entries.map((entry) => this.#line(entry));
  }

  text(): string {
    return `${this.lines().join('\n')}\n`;
  }

  #line({ at, who, what, data }: Entry): string {
    const text = Object.entries(data)
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('');
    const line = `${(at / 1000).toFixed(6).padStart(11)} ${who.padEnd(14)} ${what}${text}`;
    return line.replaceAll(/tc_[0-9a-z]{26}/g, (id) => this.#name(id));
  }

  #name(id: string): string {
    const name = this.#names.get(id) ?? `call-${this.#names.size + 1}`;
    this.#names.set(id, name);
    return name;
  }
}

export function seenCall({ id, version, state }: Call): SeenCall {
  if (state.name === 'COMPLETED') return { id, version, state: state.name, result: state.resultJson };
  if (!('error' in state)) return { id, version, state: state.name };
  const { code, outcome } = state.error;
  return { id, version, state: state.name, code, ...(outcome === undefined ? {} : { outcome }) };
}
