import {
  DEVICE_PROTOCOL,
  type DeviceFrame,
  type GatewayFrame,
  PEER_ID_PATTERN,
  reason,
} from '@patchboard/wire';
import type { Device, DeviceLink } from '../../core/devices/device.ts';
import { failure, type Failure } from '../../core/failures.ts';
import { andThen, type MaybePromise } from '../../core/maybe-promise.ts';
import type { Principal } from '../../core/access/principal.ts';
import { foreignClient } from '../shared/routes/caller.ts';
import type { FrameSender } from './frames.ts';
import type { GatewayParts } from './gateway.ts';
import type { UnfinishedMessage } from './unfinished-message.ts';

/** The other end of a device's socket. */
export interface DevicePeer {
  readonly principal: Principal;
  /** Bytes received of an incomplete message. */
  readonly unfinished: UnfinishedMessage;
  /** Called when the socket is closed. */
  readonly onClosed: () => void;
}

/**
 * Handles `hello`, which must come first and once. A device cannot act for a client that its credential is not for. Returns
 * null if the socket was closed meanwhile.
 */
export function acceptHello(
  { engine, limits }: Pick<GatewayParts, 'engine' | 'limits'>,
  { principal }: Pick<DevicePeer, 'principal'>,
  known: Device | null,
  hello: Extract<DeviceFrame, { type: 'hello' }>,
  link: DeviceLink & FrameSender & { readonly isOpen: boolean },
): MaybePromise<Device | Failure | null> {
  if (known !== null) return failure('conflict', reason('hello_again'));
  if (hello.protocol !== undefined && hello.protocol !== DEVICE_PROTOCOL) {
    const why = reason('protocol_unknown', { protocol: hello.protocol, spoken: DEVICE_PROTOCOL });
    return failure('body_invalid', why);
  }
  const clientId = hello.client_id ?? principal.clientId ?? principal.id;
  const foreign = foreignClient(principal, clientId);
  if (foreign !== null) return foreign;
  const resume = hello.resume ?? null;
  const { tenant } = principal;
  return andThen(engine.devices.takeSession(tenant, clientId, resume), (earlier) => {
    if (!link.isOpen) {
      engine.devices.putBackSession(tenant, clientId, resume, earlier);
      return null;
    }
    return engine.devices.connect({
      tenant,
      clientId,
      name: hello.name ?? null,
      link,
      mayResume: true,
      resume,
      earlier,
      holding: hello.holding ?? null,
      greet: (device, resumed) => link.send(welcome(device, resumed, limits)),
    });
  });
}

/** Connects a device that sent no `hello`: identified by its credential alone, and not resumable. */
export function plainDevice(
  { engine }: Pick<GatewayParts, 'engine'>,
  { principal }: Pick<DevicePeer, 'principal'>,
  name: string | null,
  link: DeviceLink,
): Device {
  return engine.devices.connect({
    tenant: principal.tenant,
    clientId: principal.clientId ?? principal.id,
    name,
    link,
    mayResume: false,
    resume: null,
    holding: null,
    greet: () => undefined,
  });
}

/** Returns the device name of a `connect` frame; null if it cannot be the target of a call. */
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
