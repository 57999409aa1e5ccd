import type { InputIssueView, ToolSourceName } from '@patchboard/wire';
import type { Decision } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import type { Answer } from '../answer.ts';
import type { ClientQueues } from '../devices/client-queues.ts';
import type { Pools } from '../devices/pools.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { CallRequest, Intake } from './intake.ts';

/** What would become of a call. */
export interface Preview {
  /** No fault was found in the arguments. Those of a tool that may never be called are not checked. */
  readonly valid: boolean;
  readonly errors: readonly InputIssueView[];
  readonly decision: Decision;
  readonly route: Route;
}

/** Who would run it, and whether they are there. */
export interface Route {
  readonly source: ToolSourceName;
  readonly clientId: string | null;
  readonly online: boolean;
}

export interface PreviewsParts {
  readonly intake: Intake;
  readonly rates: RateLimits;
  readonly pools: Pools;
  readonly clientQueues: ClientQueues;
}

const PREVIEW_ID = 'tc_preview';

/** Looks ahead. Nothing is recorded and nothing runs. */
export class Previews {
  readonly #parts: PreviewsParts;

  constructor(parts: PreviewsParts) {
    this.#parts = parts;
  }

  async of(given: CallRequest, principal: Principal): Promise<Answer<Preview>> {
    const { intake, rates } = this.#parts;
    // Hooks are asked as for a call, and they may be slow.
    const tooFast = rates.request(principal);
    if (tooFast !== null) return { ok: false, failure: tooFast };
    const resolved = intake.resolve(given, principal);
    const { request, tool, problem } = resolved;
    if (tool === undefined) return { ok: false, failure: problem };
    if (resolved.isDenied) {
      const { decision } = await intake.deny(PREVIEW_ID, tool, request, principal);
      return { ok: true, value: { valid: true, errors: [], decision, route: notRun(tool) } };
    }
    if (problem !== null && problem.code !== 'input_invalid') return { ok: false, failure: problem };
    const admission = await intake.admit(PREVIEW_ID, tool, request, principal);
    if ('code' in admission) return { ok: false, failure: admission };
    const { decision } = admission;
    const errors = problem?.issues ?? [];
    const route = this.route(tool, principal.tenant);
    return { ok: true, value: { valid: errors.length === 0, errors, decision, route } };
  }

  route({ runsOn, source, name }: RegisteredTool, tenant: string): Route {
    if (runsOn.kind === 'server') return { source, clientId: null, online: true };
    const { pools, clientQueues } = this.#parts;
    const { clientId } = runsOn;
    const online = pools.isOnline(tenant, name) || clientQueues.isOnline(tenant, clientId);
    return { source, clientId, online };
  }
}

/** Of a tool that may never be called: who would have run it is not shown. */
function notRun({ source }: RegisteredTool): Route {
  return { source, clientId: null, online: false };
}
