import { reason } from '@patchboard/wire';
import { OPERATOR_NAME, type Principal } from '../core/access/principal.ts';
import type { Call } from '../core/call/call.ts';
import { failure } from '../core/failures.ts';
import { jsonCopy } from '../core/json/json-copy.ts';
import { DECIDE_OPTIONS, type DecideOptions } from '../sdk/decide-options.ts';
import { RESPOND_INPUT, type RespondInputOptions } from '../sdk/tool-call-input.ts';
import { toRecord, type ToolCallRecord } from '../sdk/tool-call-record.ts';
import { AgentError, check } from './agent-error.ts';
import type { AgentHost } from './agent-host.ts';

export interface OwnCallsParts {
  readonly principal: Principal;
  readonly options: { readonly host: AgentHost };
}

/** The calls of an agent and of its sub-agents: decisions on them, and responses to their input requests. */
export class OwnCalls {
  readonly #parts: OwnCallsParts;
  readonly #isOwn: (runId: string) => boolean;

  constructor(parts: OwnCallsParts, isOwn: (runId: string) => boolean) {
    this.#parts = parts;
    this.#isOwn = isOwn;
  }

  async decide(callId: string, decision: 'allow' | 'deny', options: DecideOptions): Promise<ToolCallRecord> {
    check('decide', DECIDE_OPTIONS(options, ''));
    const { note, decidedBy = OPERATOR_NAME } = options;
    const { host } = this.#parts.options;
    const { approval } = await this.#find(callId);
    const given = { decision, digest: approval?.digest ?? '', note: note ?? null };
    const decided = await host.engine.calls.decide(host.principal(decidedBy), callId, given);
    if (!decided.ok) throw new AgentError(decided.failure);
    return toRecord(decided.value);
  }

  async respondInput(callId: string, response: RespondInputOptions): Promise<ToolCallRecord> {
    check('respondInput', RESPOND_INPUT(response, ''));
    const { options, principal } = this.#parts;
    await this.#find(callId);
    const { id, action = 'accept', content } = response;
    const given = { id, action, content: jsonCopy(content) };
    const responded = await options.host.engine.calls.respond(principal, callId, given);
    if (!responded.ok) throw new AgentError(responded.failure);
    return toRecord(responded.value);
  }

  async #find(callId: string): Promise<Call> {
    const { options, principal } = this.#parts;
    const call = await options.host.engine.calls.find(principal, callId);
    if (call !== undefined && this.#isOwn(call.runId)) return call;
    throw new AgentError(failure('call_not_found', reason('agent_call_unknown', { id: callId })));
  }
}
