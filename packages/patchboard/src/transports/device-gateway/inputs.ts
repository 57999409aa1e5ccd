import { reason, rfc3339, type DeviceFrame, type GatewayFrame } from '@patchboard/wire';
import type { Call } from '../../core/call/call.ts';
import { responseOf, type InputRound } from '../../core/call/input.ts';
import { parseRequestId, requestId } from '../../core/devices/request-id.ts';
import type { Engine } from '../../core/engine.ts';
import { failure, type Failure } from '../../core/failures.ts';
import type { FrameOrigin } from './results.ts';

type InputRequestFrame = Extract<DeviceFrame, { type: 'input_request' }>;

/** Asks the caller of a call for input. A request that was sent before gets the response, if there is one. */
export async function requestInput(
  engine: Engine,
  { principal, device, sender }: FrameOrigin,
  frame: InputRequestFrame,
): Promise<void> {
  const { id, key, message, schema, url } = frame;
  const parsed = parseRequestId(id);
  if (parsed === null) {
    sender.send(refusal(frame, failure('call_not_found', reason('call_unknown', { id: id.slice(0, 100) }))));
    return;
  }
  const request = {
    message,
    ...(schema === undefined ? {} : { schema }),
    ...(url === undefined ? {} : { url }),
  };
  const given = { key, attemptToken: parsed.attemptToken, request };
  const asked = await engine.clientInputs.request(principal, parsed.callId, given);
  if (!asked.ok) {
    sender.send(refusal(frame, asked.failure));
    return;
  }
  if (device !== null) engine.devices.adopt(device, id);
  const response = responseFrame(asked.call, asked.round);
  if (response !== null) sender.send(response);
}

/** Returns null while the caller has not responded. */
export function responseFrame(call: Call, round: InputRound): GatewayFrame | null {
  const { id, key, schema, response, remainingMs } = round;
  if (response === null) return null;
  const { action, content } = responseOf(response);
  return {
    type: 'input_response',
    id: requestId(call),
    key,
    input_request_id: id,
    action,
    ...(action === 'accept' && schema !== null ? { content } : {}),
    deadline_at: rfc3339(response.at + remainingMs),
  };
}

function refusal({ id, key }: InputRequestFrame, { code, message, reasons }: Failure): GatewayFrame {
  const more = reasons === undefined ? {} : { reasons };
  return { type: 'input_refused', id, key, failure_code: code, message, ...more };
}
