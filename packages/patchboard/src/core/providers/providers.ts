import { runsInProcess, type Call } from '../call/call.ts';
import type { RegisteredTool, RunsOn } from '../tools/registered-tool.ts';
import type { Provider } from './provider.ts';

/** Selects the provider of a tool or a recorded call. */
export class Providers {
  readonly #byKind: Readonly<Record<RunsOn['kind'], Provider>>;

  constructor(byKind: Readonly<Record<RunsOn['kind'], Provider>>) {
    this.#byKind = byKind;
  }

  of({ runsOn }: RegisteredTool): Provider {
    return this.#byKind[runsOn.kind];
  }

  /** Needs only the record, because the tool may have been removed from the tool index. */
  ofCall(call: Call): Provider {
    return runsInProcess(call) ? this.#byKind.server : this.#byKind.client;
  }

  stop(): void {
    for (const provider of Object.values(this.#byKind)) provider.stop();
  }
}
