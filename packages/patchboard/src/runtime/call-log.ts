import { statusOf } from '@patchboard/wire';
import { endedAt, type Call } from '../core/call/call.ts';
import { originFields } from '../core/call/call-origin.ts';
import type { RefusedCall } from '../core/ledger/ledger.ts';
import type { Log } from '../core/ports.ts';
import { isToolName } from '../core/tools/tool-names.ts';

/** Logs one line per ended call, without arguments and results. */
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

/** Logs one line for each ledger row of a refused request. Both are rate-limited; `unrecorded` counts the ones left out. */
export function logRefusedCall(log: Log, refused: RefusedCall): void {
  log.warn('tool_call_error', {
    trace_id: refused.traceId ?? undefined,
    // An invalid tool name is arbitrary text from the client, so it stays out of the log; the ledger row has it.
    tool_name: isToolName(refused.toolName) ? refused.toolName : undefined,
    tenant_id: refused.tenant,
    ...originFields(refused.origin),
    agent_id: refused.agentId,
    code: refused.code,
    unrecorded: refused.unrecorded === 0 ? undefined : refused.unrecorded,
  });
}
