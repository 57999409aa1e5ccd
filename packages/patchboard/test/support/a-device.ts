import type { ToolSpec } from '@patchboard/wire';
import type { Call } from '../../src/core/call/call.ts';
import type { InputRound } from '../../src/core/call/input.ts';
import type { Device } from '../../src/core/devices/device.ts';
import type { Engine } from '../../src/core/engine.ts';

export interface ConnectedDevice {
  readonly device: Device;
  /** The frames it received, oldest first. */
  readonly requests: Call[];
  /** The responses to its input requests, oldest first. */
  readonly responses: InputRound[];
  /** The reasons of the `cancel` frames. */
  readonly cancelled: string[];
  /** Whether it continues an earlier session. */
  readonly isResumed: boolean;
  /** Whether a newer connection of the device has replaced this one. */
  readonly isReplaced: () => boolean;
}

/** A device without a socket, connected to the engine; it offers `specs`. */
export async function aDevice(
  engine: Engine,
  specs: readonly ToolSpec[],
  clientId = 'phone',
  {
    resume = null,
    holding = null,
    name = clientId,
  }: { resume?: string | null; holding?: readonly string[] | null; name?: string } = {},
): Promise<ConnectedDevice> {
  const requests: Call[] = [];
  const responses: InputRound[] = [];
  const cancelled: string[] = [];
  let [isResumed, isReplaced] = [false, false];
  const earlier = await engine.devices.takeSession('default', clientId, resume);
  const device = engine.devices.connect({
    tenant: 'default',
    clientId,
    name,
    link: {
      request: (call) => void requests.push(call),
      cancel: (_id, reason) => void cancelled.push(reason),
      inputGiven: (_call, round) => void responses.push(round),
      replaced: () => {
        isReplaced = true;
      },
    },
    mayResume: true,
    resume,
    earlier,
    holding,
    greet: (_device, resumed) => {
      isResumed = resumed;
    },
  });
  await engine.devices.offer(device, specs);
  engine.devices.sendWaiting(
    device,
    specs.map(({ name }) => name),
  );
  return { device, requests, responses, cancelled, isResumed, isReplaced: () => isReplaced };
}
