import type { InputIssueView, ToolSourceName } from '@patchboard/wire';
import type { Decision } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import type { Result } from '../result.ts';
import type { CallRequest } from '../call/call-request.ts';
import type { Providers } from '../providers/providers.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Intake } from './intake.ts';

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
  readonly providers: Providers;
}

const PREVIEW_ID = 'tc_preview';

/** Looks ahead. Nothing is recorded and nothing runs. */
export class Previews {
  readonly #parts: PreviewsParts;

  constructor(parts: PreviewsParts) {
    this.#parts = parts;
  }

  async of(given: CallRequest, principal: Principal): Promise<Result<Preview>> {
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

  route(tool: RegisteredTool, tenant: string): Route {
    const { source, clientId } = tool;
    return { source, clientId, online: this.#parts.providers.of(tool).isOnline(tool, tenant) };
  }
}

/** Of a tool that may never be called: who would have run it is not shown. */
function notRun({ source }: RegisteredTool): Route {
  return { source, clientId: null, online: false };
}
