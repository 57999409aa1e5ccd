import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context, type Tracer } from '@opentelemetry/api';
import { endedAt, type Call } from '../core/call/call.ts';
import { originFields } from '../core/call/call-origin.ts';
import { parseTraceparent, traceparentOf } from '../core/call/trace-context.ts';

const SAMPLED = 1;

/**
 * Writes one span per call when the call ends, with its state changes as span events. Does nothing unless the process
 * has an OpenTelemetry SDK: Patchboard depends on the API only, and the operator chooses the SDK and the exporter.
 */
export function callTracer(version: string): (call: Call) => void {
  const tracer = trace.getTracer('patchboard', version);
  return (call) => traceEndedCall(tracer, call);
}

function traceEndedCall(tracer: Tracer, call: Call): void {
  const span = tracer.startSpan(
    `tool ${call.toolName}`,
    { kind: SpanKind.INTERNAL, startTime: call.createdAt },
    parentOf(call),
  );
  if (span.isRecording()) {
    const { site_id: site, mcp_client: program } = originFields(call.origin);
    span.setAttributes({
      'patchboard.tool_call_id': call.id,
      'patchboard.tool_name': call.toolName,
      'patchboard.tenant_id': call.tenant,
      'patchboard.agent_id': call.agentId,
      'patchboard.run_id': call.runId,
      'patchboard.source': call.source,
      'patchboard.state': call.state.name,
      ...(call.traceId === null ? {} : { 'patchboard.trace_id': call.traceId }),
      ...(site === undefined ? {} : { 'patchboard.site_id': site }),
      ...(program === undefined ? {} : { 'patchboard.mcp_client': program }),
    });
    for (const { state, at } of call.timeline) span.addEvent(state, at);
    if ('error' in call.state) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: call.state.error.code });
    }
  }
  span.end(endedAt(call) ?? call.createdAt);
}

function parentOf(call: Call): Context {
  const context = parseTraceparent(traceparentOf(call) ?? '');
  if (context === null) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { ...context, traceFlags: SAMPLED, isRemote: true });
}
