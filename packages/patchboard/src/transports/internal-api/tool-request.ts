import { rfc3339 } from '@patchboard/wire';
import { attemptsOf, type Call } from '../../core/call/call.ts';
import { traceparentOf } from '../../core/call/trace-context.ts';
import { attemptToken } from '../../core/devices/request-id.ts';

/** Serializes a call for its client. The arguments are stored as JSON text and inserted without parsing. */
export function toolRequestJson(call: Call): string {
  const text = JSON.stringify;
  const traceparent = traceparentOf(call);
  const deadline = 'deadlineAt' in call.state ? call.state.deadlineAt : call.createdAt;
  return (
    `{"tool_call_id":${text(call.id)},"tool_name":${text(call.toolName)},"args":${call.argsJson}` +
    `,"timeout_ms":${call.timeoutMs},"attempt":${Math.max(1, attemptsOf(call))}` +
    `,"attempt_token":${text(attemptToken(call))}` +
    `${traceparent === null ? '' : `,"traceparent":${text(traceparent)}`}` +
    `,"deadline_at":"${rfc3339(deadline)}"}`
  );
}
