import type { InputIssueView, ToolSourceName } from '@patchboard/wire';
import type { Decision } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import type { Result } from '../result.ts';
import type { CallRequest } from '../call/call-request.ts';
import type { Providers } from '../providers/providers.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Intake } from './intake.ts';

/** How a call would be decided and routed, without making it. */
export interface Preview {
  /** The arguments are valid. Those of a tool that the principal may never call are not checked. */
  readonly valid: boolean;
  readonly errors: readonly InputIssueView[];
  readonly decision: Decision;
  readonly route: Route;
}

/** What would run the call, and whether it is connected. */
export interface Route {
  readonly source: ToolSourceName;
  readonly clientId: string | null;
  readonly online: boolean;
}

export interface PreviewsParts {
  readonly intake: Intake;
  readonly rates: RateLimits;
  readonly providers: Providers;
}

const PREVIEW_ID = 'tc_preview';

/** Dry runs of intake and admission. They record nothing and run no tool. */
export class Previews {
  readonly #parts: PreviewsParts;

  constructor(parts: PreviewsParts) {
    this.#parts = parts;
  }

  async of(given: CallRequest, principal: Principal): Promise<Result<Preview>> {
    const { intake, rates } = this.#parts;
    // A preview calls hooks, which may be slow, so it counts against the caller's rate.
    const tooFast = rates.request(principal);
    if (tooFast !== null) return { ok: false, failure: tooFast };
    const resolved = await intake.resolve(given, principal);
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

  route(tool: RegisteredTool, tenant: string): Route {
    const { source, clientId } = tool;
    return { source, clientId, online: this.#parts.providers.of(tool).isOnline(tool, tenant) };
  }
}

/** The route of a tool that the principal may never call: without client and presence. */
function notRun({ source }: RegisteredTool): Route {
  return { source, clientId: null, online: false };
}
