import { topOf } from '../call/call-tree.ts';
import type { Call } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { pairKey } from '../pair-key.ts';
import type { Peers, WorkspaceHome } from '../peers.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { RunScope, Workspaces } from '../workspaces.ts';

export interface WorkspaceHomesParts {
  readonly peers: Peers;
  readonly workspaces: Pick<Workspaces, 'place'>;
  readonly lifecycle: Pick<Lifecycle, 'find'>;
}

/** Runs beyond this number are read from the store again. */
const MAX_KNOWN = 10_000;

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

  async claim(call: Call): Promise<WorkspaceHome> {
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
