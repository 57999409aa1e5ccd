import {
  DEVICE_PROTOCOL,
  type DeviceFrame,
  type GatewayFrame,
  PEER_ID_PATTERN,
  reason,
} from '@patchboard/wire';
import type { Device, DeviceLink } from '../../core/devices/device.ts';
import { failure, type Failure } from '../../core/failures.ts';
import type { Principal } from '../../core/access/principal.ts';
import { foreignClient } from '../shared/routes/caller.ts';
import type { GatewayParts } from './gateway.ts';
import type { UnfinishedMessage } from './unfinished-message.ts';

/** Who opened the socket. */
export interface Visitor {
  readonly principal: Principal;
  /** What its socket has read of a message that is not whole. */
  readonly unfinished: UnfinishedMessage;
  /** Told when the socket is gone. */
  readonly left: () => void;
}

interface Way extends DeviceLink {
  send(frame: GatewayFrame): void;
}

/** `hello`: before anything else, and once. Nobody is taken for somebody else than the credential says. */
export function introduce(
  { engine, limits }: Pick<GatewayParts, 'engine' | 'limits'>,
  { principal }: Pick<Visitor, 'principal'>,
  known: Device | null,
  hello: Extract<DeviceFrame, { type: 'hello' }>,
  way: Way,
): Device | Failure {
  if (known !== null) return failure('conflict', reason('hello_again'));
  if (hello.protocol !== undefined && hello.protocol !== DEVICE_PROTOCOL) {
    const why = reason('protocol_unknown', { protocol: hello.protocol, spoken: DEVICE_PROTOCOL });
    return failure('body_invalid', why);
  }
  const clientId = hello.client_id ?? principal.clientId ?? principal.id;
  const foreign = foreignClient(principal, clientId);
  if (foreign !== null) return foreign;
  return engine.devices.connect({
    tenant: principal.tenant,
    clientId,
    name: hello.name ?? null,
    link: way,
    mayResume: true,
    resume: hello.resume ?? null,
    holding: hello.holding ?? null,
    greet: (device, resumed) => way.send(welcome(device, resumed, limits)),
  });
}

/** Of `connect`: a text that cannot name the target of a call is no name. */
export function deviceNameOf({
  device_name: name,
}: Extract<DeviceFrame, { type: 'connect' }>): string | null {
  return typeof name === 'string' && PEER_ID_PATTERN.test(name) ? name : null;
}

function welcome(device: Device, resumed: boolean, limits: GatewayParts['limits']): GatewayFrame {
  return {
    type: 'welcome',
    protocol: DEVICE_PROTOCOL,
    session: device.session,
    client_id: device.clientId,
    name: device.name,
    resume_token: device.resumeToken ?? '',
    resumed,
    heartbeat_ms: limits.deviceHeartbeatMs,
    max_frame_bytes: limits.frameBytes,
    grace_ms: limits.deviceGraceMs,
  };
}
