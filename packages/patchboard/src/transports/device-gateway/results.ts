import type { DeviceFrame, GatewayFrame, NotKept, SubmissionError } from '@patchboard/wire';
import { isOpen } from '../../core/call/call.ts';
import type { ClientAnswer, ClientResult, UnreadableResult } from '../../core/devices/client-results.ts';
import type { Device } from '../../core/devices/device.ts';
import type { Engine } from '../../core/engine.ts';
import type { Principal } from '../../core/access/principal.ts';
import { parseRequestId } from '../../core/devices/request-id.ts';
import type { Visitor } from './introduction.ts';

type ReportFrame = Extract<DeviceFrame, { type: 'tool_result' | 'tool_error' | 'progress' }>;

/** Every result is answered once, with what became of it: one that was not kept is never told so. */
export async function report(
  engine: Engine,
  visitor: Visitor,
  device: Device | null,
  frame: ReportFrame,
  way: { send(frame: GatewayFrame): void },
): Promise<void> {
  const { id } = frame;
  const principal = speaking(visitor.principal, device);
  const parsed = parseRequestId(id);
  if (frame.type === 'progress') {
    if (parsed !== null)
      await engine.clients.progress(principal, parsed.callId, parsed.attemptToken, frame.data);
    return;
  }
  if (parsed === null) {
    way.send({ type: 'result_acknowledged', id, accepted: false, reason: 'unknown' });
    return;
  }
  const result = resultOf(frame, parsed.attemptToken);
  const answer = await engine.clients.submit(principal, parsed.callId, result);
  const error = result.status === 'SUCCEEDED' ? errorOf(answer) : null;
  way.send({ type: 'result_acknowledged', id, ...fateOf(answer), ...(error === null ? {} : { error }) });
}

/** A result that could not be decoded: its call fails with that, if it is of the current attempt. */
export async function rejectResult(
  engine: Engine,
  visitor: Visitor,
  device: Device | null,
  unreadable: UnreadableResult & { readonly id: string; readonly callId: string },
  way: { send(frame: GatewayFrame): void },
): Promise<void> {
  const { id, callId } = unreadable;
  const answer = await engine.clients.reject(speaking(visitor.principal, device), callId, unreadable);
  const error = errorOf(answer);
  const fate: Fate = answer.ok ? { accepted: false, reason: 'invalid' } : fateOf(answer);
  way.send({ type: 'result_acknowledged', id, ...fate, ...(error === null ? {} : { error }) });
}

/** How the call failed with this result; null: it did not. */
function errorOf(answer: ClientAnswer): SubmissionError | null {
  if (!answer.ok || !('error' in answer.call.state)) return null;
  const { code, message } = answer.call.state.error;
  return { code, message };
}

/** For the client whose tools it lends, and nobody else. */
function speaking(principal: Principal, device: Device | null): Principal {
  return device === null ? principal : { ...principal, clientId: device.clientId };
}

function resultOf(frame: Exclude<ReportFrame, { type: 'progress' }>, attemptToken: string): ClientResult {
  if (frame.type === 'tool_result' && frame.success !== false) {
    return { status: 'SUCCEEDED', result: frame.output ?? null, error: null, attemptToken };
  }
  const recommendations = frame.type === 'tool_error' ? frame.recommendations : undefined;
  const error = { message: messageIn(frame), ...(recommendations === undefined ? {} : { recommendations }) };
  return { status: 'FAILED', result: null, error, attemptToken };
}

function messageIn(frame: Exclude<ReportFrame, { type: 'progress' }>): string {
  const said = frame.error ?? (frame.type === 'tool_result' ? frame.output : undefined);
  if (typeof said === 'string' && said !== '') return said;
  return said === undefined || said === '' ? 'the device reported a failure' : JSON.stringify(said);
}

type Fate = Pick<Extract<GatewayFrame, { type: 'result_acknowledged' }>, 'accepted' | 'duplicate' | 'reason'>;

function fateOf(answer: ClientAnswer): Fate {
  if (answer.ok) return answer.repeated ? { accepted: true, duplicate: true } : { accepted: true };
  return { accepted: false, reason: reasonOf(answer) };
}

function reasonOf({ call, failure }: Extract<ClientAnswer, { ok: false }>): NotKept {
  if (call === null || failure.code === 'call_not_found') return 'unknown';
  // Open, and yet not taken: another attempt is under way.
  if (isOpen(call)) return call.state.name === 'APPROVAL_REQUIRED' ? 'unknown' : 'late';
  return 'resultDigest' in call.state && call.state.resultDigest !== null ? 'conflict' : 'late';
}
