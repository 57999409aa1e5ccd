import { statusOf } from '@patchboard/wire';
import { endedAt, type Call } from '../core/call/call.ts';
import { originFields } from '../core/call/call-origin.ts';
import type { RefusedCall } from '../core/ledger/ledger.ts';
import type { Log } from '../core/ports.ts';
import { isToolName } from '../core/tools/tool-names.ts';

/** One line per call, when it has ended. Arguments and results are never in it. */
export function logEndedCall(log: Log, call: Call): void {
  const fields = {
    tool_call_id: call.id,
    trace_id: call.traceId ?? undefined,
    span_id: call.spanId ?? undefined,
    tool_name: call.toolName,
    tenant_id: call.tenant,
    ...originFields(call.origin),
    agent_id: call.agentId,
    run_id: call.runId,
    state: call.state.name,
    latency_ms: (endedAt(call) ?? call.createdAt) - call.createdAt,
  };
  if (call.state.name === 'COMPLETED') log.info('tool_call_success', fields);
  else if ('error' in call.state) log.warn('tool_call_error', { ...fields, code: call.state.error.code });
  else log.error('tool_call_log_misplaced', { ...fields, status: statusOf(call.state.name) });
}

/** One line per request that made no call, as the ledger has one row: of a flood neither has more than its beginning. */
export function logRefusedCall(log: Log, refused: RefusedCall): void {
  log.warn('tool_call_error', {
    trace_id: refused.traceId ?? undefined,
    // What can be no tool's name is whatever a stranger wrote; the ledger has it, under the chain.
    tool_name: isToolName(refused.toolName) ? refused.toolName : undefined,
    tenant_id: refused.tenant,
    ...originFields(refused.origin),
    agent_id: refused.agentId,
    code: refused.code,
    unrecorded: refused.unrecorded === 0 ? undefined : refused.unrecorded,
  });
}
