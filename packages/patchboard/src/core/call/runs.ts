import { reason } from '@patchboard/wire';
import type { Result } from '../result.ts';
import { failure } from '../failures.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Peers } from '../peers.ts';
import type { Call } from './call.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Clock, Digest, Ids, Run, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import { onlyAgent } from './visibility.ts';
import type { Workspaces } from '../workspaces.ts';

export interface RunsParts {
  readonly store: Store;
  readonly peers: Peers;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly workspaces: Workspaces;
}

/** Open calls of all nodes that are held at once: together they may be larger than the memory. */
const READ_AT_ONCE = 64;

/**
 * The id of the run that an agent gets in place of `id`, which belongs to another agent of the tenant: clients use fixed
 * ids such as `run_001`, and two agents must share neither a workspace nor a cancel.
 */
export function ownRunId(digest: Digest, id: string, agentId: string): string {
  return `${id}.${digest.sha256(agentId).slice(0, 8)}`;
}

/** Runs: groups of calls of one agent. A run belongs to the agent that created it. */
export class Runs {
  readonly #parts: RunsParts;

  constructor(parts: RunsParts) {
    this.#parts = parts;
  }

  async create(principal: Principal, given: string | null): Promise<Result<Run>> {
    const { digest, ids } = this.#parts;
    const id = given ?? ids.next('run_');
    const { agentId } = principal;
    const run = await this.#ensure(principal, id);
    if (run.agentId === agentId) return { ok: true, value: run };
    return { ok: true, value: await this.#ensure(principal, ownRunId(digest, id, agentId)) };
  }

  async #ensure({ tenant, agentId }: Principal, id: string): Promise<Run> {
    const { clock, store } = this.#parts;
    const run: Run = { id, tenant, agentId, createdAt: clock.now(), cancelledAt: null };
    const entry = plainRow('run.created', tenant, run.createdAt, { run_id: id, agent_id: agentId });
    return await store.ensureRun(run, entry);
  }

  /**
   * Returns the run with that id if the principal may see it; for an id of another agent's run, the principal's own run
   * (`ownRunId`).
   */
  async find(principal: Principal, id: string): Promise<Run | undefined> {
    const { digest, store } = this.#parts;
    const run = await store.findRun(principal.tenant, id);
    const only = onlyAgent(principal);
    if (run === undefined || only === null || run.agentId === only) return run;
    const own = await store.findRun(principal.tenant, ownRunId(digest, id, only));
    return own?.agentId === only ? own : undefined;
  }

  /** Closes the run to new calls, cancels its open calls, and ends background jobs of its workspace. */
  async cancel(principal: Principal, requestedId: string): Promise<Result<{ cancelled: readonly string[] }>> {
    const { clock, store, peers, workspaces } = this.#parts;
    const { tenant } = principal;
    const run = await this.find(principal, requestedId);
    if (run === undefined) {
      return { ok: false, failure: failure('run_not_found', reason('run_unknown', { id: requestedId })) };
    }
    const { id } = run;
    const at = clock.now();
    const row = plainRow('run.cancelled', tenant, at, { run_id: id, by: principal.id });
    await store.cancelRun(tenant, id, at, row);
    try {
      const cancelled = await this.#cancelOpen(run, principal.id);
      return { ok: true, value: { cancelled } };
    } finally {
      // The run is cancelled, so its jobs end also if the end of a call could not be written.
      peers.runCancelled(tenant, id);
      await workspaces.endRun({ tenant, runId: id });
    }
  }

  /**
   * Of all nodes. No call joins a run once it is cancelled. Returns the ids of the calls that this ended; throws after all of
   * them if one could not be cancelled.
   */
  async #cancelOpen({ tenant, id }: Run, by: string): Promise<readonly string[]> {
    const { store, peers, lifecycle } = this.#parts;
    const cancelled: string[] = [];
    const problems: unknown[] = [];
    const cancelAll = async (calls: readonly Call[]): Promise<void> => {
      const one = async (call: Call): Promise<void> => {
        if (await lifecycle.cancelStored(call, by)) cancelled.push(call.id);
      };
      for (const done of await Promise.allSettled(calls.map(one)))
        if (done.status === 'rejected') problems.push(done.reason);
    };
    if (peers.isSingle) {
      const live = lifecycle.all().map(({ call }) => call);
      await cancelAll(live.filter((call) => call.tenant === tenant && call.runId === id));
    } else {
      let read: Call[] = [];
      for await (const call of store.openCalls({ tenant, runId: id })) {
        read.push(call);
        if (read.length < READ_AT_ONCE) continue;
        await cancelAll(read);
        read = [];
      }
      await cancelAll(read);
    }
    if (problems.length > 0) throw problems[0];
    return cancelled;
  }
}
