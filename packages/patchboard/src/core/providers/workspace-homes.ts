import { reason, type Reason } from '@patchboard/wire';
import { topOf } from '../call/call-tree.ts';
import type { Call } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { isOurs, isPinned, type LiveCall } from '../call/live-call.ts';
import { messageOf } from '../failures.ts';
import { pairKey } from '../pair-key.ts';
import type { Peers, WorkspaceHome } from '../peers.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { Log } from '../ports.ts';
import type { Tasks } from '../tasks.ts';
import type { RunScope, Workspaces } from '../workspaces.ts';

export interface WorkspaceHomesParts {
  readonly peers: Peers;
  readonly workspaces: Pick<Workspaces, 'place'>;
  readonly lifecycle: Pick<Lifecycle, 'find' | 'give' | 'wheel'>;
  readonly tasks: Tasks;
  readonly log: Log;
}

/** What happens to a call whose workspace is at this node, or that cannot run where it is. */
export interface AtHome {
  readonly here: () => void;
  readonly refused: (why: Reason) => void;
}

/** Runs beyond this number are read from the store again. */
const MAX_KNOWN = 10_000;
/** The pause before the home of a workspace is looked for again. */
const RETRY_MS = 500;

/**
 * With several nodes, the workspace of a run is at one of them, its home: the first that uses it. Another node becomes the
 * home only when the former one is gone or leaves.
 */
export class WorkspaceHomes {
  readonly #parts: WorkspaceHomesParts;
  /** The runs whose home is this node, until it leaves. `new`: no call has recorded yet that the files are new. */
  readonly #here: BoundedMap<string, 'new' | 'known'> = new BoundedMap(MAX_KNOWN);

  constructor(parts: WorkspaceHomesParts) {
    this.#parts = parts;
  }

  /** Whether calls of the run may run here without a look into the store. */
  isKnown({ tenant, runId }: RunScope): boolean {
    const { isSingle, isLeaving } = this.#parts.peers;
    return isSingle || (!isLeaving && this.#here.use(pairKey(tenant, runId)) === 'known');
  }

  /** Whether the home of the call's run must be claimed before it runs. A tool without a sandbox has no workspace. */
  mustClaim(call: Call): boolean {
    const { isSingle, isLeaving } = this.#parts.peers;
    return call.sandbox !== null && !isSingle && (isLeaving || this.#of(call) === undefined);
  }

  /** Begins the call here if the workspace of its run is at this node; otherwise passes it to the node that has it. */
  begin(live: LiveCall, then: AtHome): void {
    this.#parts.tasks.start('workspace home', () => this.#begin(live, then));
  }

  async #begin(live: LiveCall, then: AtHome): Promise<void> {
    const { lifecycle, log } = this.#parts;
    try {
      const home = await this.#claim(live.call);
      if (!isOurs(live)) return;
      if (home.isHere || (isPinned(live.caller) && home.hasSameFiles)) return then.here();
      if (isPinned(live.caller))
        return then.refused(reason('workspace_elsewhere', { run: live.call.runId, node: home.node }));
      if (await lifecycle.give(live, home.node)) return;
    } catch (error) {
      log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
    }
    // The home may be gone by now.
    if (isOurs(live)) live.release = lifecycle.wheel.after(RETRY_MS, () => this.begin(live, then));
  }

  async #claim(call: Call): Promise<WorkspaceHome> {
    const { peers, workspaces } = this.#parts;
    const scope = this.#scopeOf(call);
    const home = await peers.claimHome(scope, workspaces.place);
    const key = pairKey(scope.tenant, scope.runId);
    // Calls may claim at once, and only one of them finds the workspace new.
    if (home.isHere) this.#here.set(key, home.isNew || this.#here.get(key) === 'new' ? 'new' : 'known');
    else this.#here.delete(key);
    return home;
  }

  /** What is recorded about the workspace when the call begins. */
  noteFor(call: Call): { readonly workspace?: 'new' } {
    return call.sandbox !== null && this.#of(call) === 'new' ? { workspace: 'new' } : {};
  }

  /** The call has begun, with the note in its record. */
  noted(call: Call): void {
    if (call.workspace === undefined) return;
    const { tenant, runId } = this.#scopeOf(call);
    this.#here.set(pairKey(tenant, runId), 'known');
  }

  #of(call: Call): 'new' | 'known' | undefined {
    const { tenant, runId } = this.#scopeOf(call);
    return this.#here.use(pairKey(tenant, runId));
  }

  #scopeOf(call: Call): RunScope {
    const { tenant, runId } = topOf(this.#parts.lifecycle, call);
    return { tenant, runId };
  }
}
