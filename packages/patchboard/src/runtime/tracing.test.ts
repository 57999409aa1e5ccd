import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aCall } from '../../test/support/a-call.ts';
import { move } from '../core/call/call.ts';
import { failure } from '../core/failures.ts';
import { callTracer } from './tracing.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

describe('callTracer', () => {
  const exporter = new InMemorySpanExporter();
  beforeEach(() => {
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
  });
  afterEach(() => {
    exporter.reset();
    trace.disable();
  });

  const ended = () => {
    const call = aCall({ traceId: TRACE_ID, spanId: SPAN_ID, createdAt: 1_000_000 });
    const running = move(
      call,
      { name: 'EXECUTING', deadlineAt: 2_000_000, attempt: 1, cause: null },
      1_000_010,
    );
    return move(running, { name: 'FAILED', error: failure('tool_failed'), resultDigest: null }, 1_000_250);
  };

  it("writes one child span of the caller's span, from creation to end, with the state changes as events", () => {
    callTracer('1.2.3')(ended());
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({
      name: 'tool toy.echo',
      startTime: [1000, 0],
      endTime: [1000, 250_000_000],
      parentSpanContext: { traceId: TRACE_ID, spanId: SPAN_ID, isRemote: true },
      status: { message: 'tool_failed' },
      attributes: { 'patchboard.state': 'FAILED', 'patchboard.tool_name': 'toy.echo' },
    });
    expect(span?.spanContext().traceId).toBe(TRACE_ID);
    expect(span?.events.map((event) => event.name)).toEqual(['PENDING', 'EXECUTING', 'FAILED']);
  });

  it('starts a new trace for a caller without one', () => {
    callTracer('1.2.3')({ ...ended(), traceId: 'trace-1', spanId: null });
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext).toBeUndefined();
  });

  it("uses the caller's span as the parent, and sets trace and site, when the caller also sends its own trace id", () => {
    const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
    const origin = { siteId: 'yantian-main', traceparent };
    callTracer('1.2.3')({ ...ended(), traceId: 'trace-1', origin });
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({
      parentSpanContext: { traceId: TRACE_ID, spanId: SPAN_ID },
      attributes: { 'patchboard.trace_id': 'trace-1', 'patchboard.site_id': 'yantian-main' },
    });
  });

  it('names the MCP client of a call that has no site', () => {
    callTracer('1.2.3')({ ...ended(), origin: { mcpClient: { name: 'claude-code', version: '2.1' } } });
    const [span] = exporter.getFinishedSpans();
    expect(span?.attributes).toMatchObject({ 'patchboard.mcp_client': 'claude-code/2.1' });
    expect(span?.attributes).not.toHaveProperty('patchboard.site_id');
  });
});
