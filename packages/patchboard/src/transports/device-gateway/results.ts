import {
  INPUT_FAILURE_CODES,
  type DeviceFrame,
  type GatewayFrame,
  type NotKept,
  type SubmissionError,
} from '@patchboard/wire';
import { isOpen } from '../../core/call/call.ts';
import type { ReportResult, ClientResult, UnreadableResult } from '../../core/devices/client-results.ts';
import type { Device } from '../../core/devices/device.ts';
import type { Engine } from '../../core/engine.ts';
import type { Principal } from '../../core/access/principal.ts';
import { parseRequestId } from '../../core/devices/request-id.ts';
import type { FrameSender } from './frames.ts';

type ReportFrame = Extract<DeviceFrame, { type: 'tool_result' | 'tool_error' | 'progress' }>;

/** Who sent a frame, and where its reply goes. */
export interface FrameOrigin {
  /** Restricted to the client of the device. */
  readonly principal: Principal;
  readonly device: Device | null;
  readonly sender: FrameSender;
}

/** Passes a result or progress to the engine. Every result is acknowledged once, as accepted only if it was stored. */
export async function report(
  engine: Engine,
  { principal, sender }: FrameOrigin,
  frame: ReportFrame,
): Promise<void> {
  const { id } = frame;
  const parsed = parseRequestId(id);
  if (frame.type === 'progress') {
    if (parsed !== null)
      await engine.clients.progress(principal, parsed.callId, parsed.attemptToken, frame.data);
    return;
  }
  if (parsed === null) {
    sender.send({ type: 'result_acknowledged', id, accepted: false, reason: 'unknown' });
    return;
  }
  const result = resultOf(frame, parsed.attemptToken);
  const submitted = await engine.clients.submit(principal, parsed.callId, result);
  const error = result.status === 'SUCCEEDED' ? errorOf(submitted) : null;
  sender.send({
    type: 'result_acknowledged',
    id,
    ...acknowledgementOf(submitted),
    ...(error === null ? {} : { error }),
  });
}

/** Fails the call of a malformed result, if the result is of the current attempt. */
export async function rejectResult(
  engine: Engine,
  { principal, sender }: FrameOrigin,
  unreadable: UnreadableResult & { readonly id: string; readonly callId: string },
): Promise<void> {
  const { id, callId } = unreadable;
  const rejected = await engine.clients.reject(principal, callId, unreadable);
  const error = errorOf(rejected);
  const acknowledgement: Acknowledgement = rejected.ok
    ? { accepted: false, reason: 'invalid' }
    : acknowledgementOf(rejected);
  sender.send({ type: 'result_acknowledged', id, ...acknowledgement, ...(error === null ? {} : { error }) });
}

/** Returns the error with which the call ended; null if it has none. */
function errorOf(submitted: ReportResult): SubmissionError | null {
  if (!submitted.ok || !('error' in submitted.call.state)) return null;
  const { code, message } = submitted.call.state.error;
  return { code, message };
}

function resultOf(frame: Exclude<ReportFrame, { type: 'progress' }>, attemptToken: string): ClientResult {
  if (frame.type === 'tool_result' && frame.success !== false) {
    return { status: 'SUCCEEDED', result: frame.output ?? null, error: null, attemptToken };
  }
  const recommendations = frame.type === 'tool_error' ? frame.recommendations : undefined;
  // Older devices may send codes of their own, which are ignored.
  const code = INPUT_FAILURE_CODES.find((one) => frame.type === 'tool_error' && frame.code === one);
  const error = {
    message: messageIn(frame),
    ...(recommendations === undefined ? {} : { recommendations }),
    ...(code === undefined ? {} : { code }),
  };
  return { status: 'FAILED', result: null, error, attemptToken };
}

function messageIn(frame: Exclude<ReportFrame, { type: 'progress' }>): string {
  const sent = frame.error ?? (frame.type === 'tool_result' ? frame.output : undefined);
  if (typeof sent === 'string' && sent !== '') return sent;
  return sent === undefined || sent === '' ? 'the device reported a failure' : JSON.stringify(sent);
}

type Acknowledgement = Pick<
  Extract<GatewayFrame, { type: 'result_acknowledged' }>,
  'accepted' | 'duplicate' | 'reason'
>;

function acknowledgementOf(submitted: ReportResult): Acknowledgement {
  if (submitted.ok) return submitted.repeated ? { accepted: true, duplicate: true } : { accepted: true };
  return { accepted: false, reason: reasonOf(submitted) };
}

function reasonOf({ call, failure }: Extract<ReportResult, { ok: false }>): NotKept {
  if (call === null || failure.code === 'call_not_found') return 'unknown';
  // The call is open but the result was refused: another attempt is running.
  if (isOpen(call)) return call.state.name === 'APPROVAL_REQUIRED' ? 'unknown' : 'late';
  return 'resultDigest' in call.state && call.state.resultDigest !== null ? 'conflict' : 'late';
}
