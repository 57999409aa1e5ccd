import { runsHere, type Call } from '../call/call.ts';
import type { RegisteredTool, RunsOn } from '../tools/registered-tool.ts';
import type { Provider } from './provider.ts';

/** The provider of each tool and of each recorded call. */
export class Providers {
  readonly #byKind: Readonly<Record<RunsOn['kind'], Provider>>;

  constructor(byKind: Readonly<Record<RunsOn['kind'], Provider>>) {
    this.#byKind = byKind;
  }

  of({ runsOn }: RegisteredTool): Provider {
    return this.#byKind[runsOn.kind];
  }

  /** The tool may have left the registry. */
  ofCall(call: Call): Provider {
    return runsHere(call) ? this.#byKind.server : this.#byKind.client;
  }

  stop(): void {
    for (const provider of Object.values(this.#byKind)) provider.stop();
  }
}
