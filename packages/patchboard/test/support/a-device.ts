import type { ToolSpec } from '@patchboard/wire';
import type { Call } from '../../src/core/call/call.ts';
import type { Device } from '../../src/core/devices/device.ts';
import type { Engine } from '../../src/core/engine.ts';

export interface ConnectedDevice {
  readonly device: Device;
  /** The frames it received, oldest first. */
  readonly requests: Call[];
}

/** A device without a socket, connected to the engine; it offers `specs`. */
export async function aDevice(
  engine: Engine,
  specs: readonly ToolSpec[],
  clientId = 'phone',
): Promise<ConnectedDevice> {
  const requests: Call[] = [];
  const device = engine.devices.connect({
    tenant: 'default',
    clientId,
    name: clientId,
    link: {
      request: (call) => void requests.push(call),
      cancel: () => undefined,
      replaced: () => undefined,
    },
    mayResume: true,
    resume: null,
    holding: null,
    greet: () => undefined,
  });
  await engine.devices.offer(device, specs);
  return { device, requests };
}
