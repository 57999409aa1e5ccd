import type { Answer } from '../answer.ts';
import { failure } from '../failures.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Clock, Ids, Page, Run, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import { onlyAgent } from './visibility.ts';
import type { Workspaces } from '../workspaces.ts';

export interface RunsParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly workspaces: Workspaces;
}

/** What groups an agent's calls. A run belongs to the agent that made it. */
export class Runs {
  readonly #parts: RunsParts;

  constructor(parts: RunsParts) {
    this.#parts = parts;
  }

  async create(principal: Principal, given: string | null): Promise<Answer<Run>> {
    const { clock, ids, store } = this.#parts;
    const id = given ?? ids.next('run_');
    const { tenant, agentId } = principal;
    const run: Run = { id, tenant, agentId, createdAt: clock.now(), cancelledAt: null };
    const entry = plainRow('run.created', tenant, run.createdAt, { run_id: id, agent_id: agentId });
    const standing = await store.ensureRun(run, entry);
    if (standing.agentId === agentId) return { ok: true, value: standing };
    const message = `permission denied: run ${id} belongs to another agent`;
    return { ok: false, failure: failure('permission_denied', message) };
  }

  /** Another agent's run is answered like one that does not exist. */
  async find(principal: Principal, id: string): Promise<Run | undefined> {
    const run = await this.#parts.store.findRun(principal.tenant, id);
    const only = onlyAgent(principal);
    return run !== undefined && (only === null || run.agentId === only) ? run : undefined;
  }

  /** Of its tenant, and only its own where it may see no other. `agentId` null: of every agent it may see. */
  async list(
    principal: Principal,
    agentId: string | null,
    cursor: string | null,
    limit: number,
  ): Promise<Page<Run>> {
    const whose = onlyAgent(principal) ?? agentId;
    return await this.#parts.store.listRuns(principal.tenant, whose, cursor, limit);
  }

  /** No call joins the run from now on; those that have not ended are cancelled, and what they left running ends. */
  async cancel(principal: Principal, id: string): Promise<Answer<{ cancelled: readonly string[] }>> {
    const { clock, store, lifecycle, workspaces } = this.#parts;
    const { tenant } = principal;
    if ((await this.find(principal, id)) === undefined) {
      return { ok: false, failure: failure('run_not_found', `no such run: ${id}`) };
    }
    const at = clock.now();
    const row = plainRow('run.cancelled', tenant, at, { run_id: id, by: principal.id });
    await store.cancelRun(tenant, id, at, row);
    const mine = lifecycle.all().filter(({ call }) => call.tenant === tenant && call.runId === id);
    const done = await Promise.all(mine.map((live) => lifecycle.cancel(live, principal.id)));
    await workspaces.endRun({ tenant, runId: id });
    const cancelled = mine.filter((_, index) => done[index]).map((live) => live.call.id);
    return { ok: true, value: { cancelled } };
  }
}
