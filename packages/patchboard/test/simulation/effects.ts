import type { History } from './history.ts';

/** What a tool did in the simulated world. */
export interface Effect {
  readonly tool: string;
  readonly callId: string;
  readonly attempt: number;
  readonly args: unknown;
  readonly process: string;
}

/** The process or the device that runs a tool. */
interface Place {
  readonly name: string;
}

/** Counts what tools do, outside the engines: nothing that happens to a node takes it back. */
export class Effects {
  /** One for each time that a tool was entered. */
  readonly begun: Effect[] = [];
  /** One for each time that a tool acted. */
  readonly done: Effect[] = [];
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  begin(process: Place, effect: Omit<Effect, 'process'>): void {
    this.begun.push({ ...effect, process: process.name });
    this.#add(process, 'tool begins', effect);
  }

  act(process: Place, effect: Omit<Effect, 'process'>): void {
    this.done.push({ ...effect, process: process.name });
    this.#add(process, 'tool acts', effect);
  }

  #add(process: Place, what: string, { tool, callId, attempt }: Omit<Effect, 'process'>): void {
    this.#history.add(process.name, what, { tool, call: callId, attempt });
  }
}
