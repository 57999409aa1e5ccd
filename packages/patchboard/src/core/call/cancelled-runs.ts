import type { Peers } from '../peers.ts';
import type { Store } from '../ports.ts';
import type { Tasks } from '../tasks.ts';
import type { RunScope, Workspaces } from '../workspaces.ts';
import type { Call } from './call.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface CancelledRunsParts {
  readonly store: Store;
  readonly peers: Peers;
  readonly lifecycle: Lifecycle;
  readonly workspaces: Workspaces;
  readonly tasks: Tasks;
}

/** How often a node with background jobs reads whether their runs were cancelled. */
const POLL_MS = 5000;

/** Ends the background jobs of runs that other nodes cancel: when they notify this one, and by a poll of the store. */
export class CancelledRuns {
  readonly #parts: CancelledRunsParts;

  #isArmed = false;

  constructor(parts: CancelledRunsParts) {
    this.#parts = parts;
    parts.peers.onRunCancelled((tenant, runId) => this.#end({ tenant, runId }));
  }

  /** A call is over at this node: a tool that used the sandbox may have left a background job. */
  callOver({ sandbox }: Call): void {
    if (sandbox !== null && !this.#parts.peers.isSingle) this.#pollLater();
  }

  #pollLater(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#parts.lifecycle.wheel.after(POLL_MS, () => {
      this.#isArmed = false;
      this.#parts.tasks.start('cancelled runs', () => this.#poll());
    });
  }

  async #poll(): Promise<void> {
    const { store, workspaces } = this.#parts;
    const running = workspaces.withJobs();
    if (running.length > 0) this.#pollLater();
    for (const scope of running) {
      const run = await store.findRun(scope.tenant, scope.runId);
      if (run !== undefined && run.cancelledAt !== null) this.#end(scope);
    }
  }

  #end(scope: RunScope): void {
    this.#parts.tasks.start('end run', () => this.#parts.workspaces.endRun(scope));
  }
}
