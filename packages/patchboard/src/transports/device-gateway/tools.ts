import type { GatewayFrame } from '@patchboard/wire';
import type { Device } from '../../core/devices/device.ts';
import type { Engine } from '../../core/engine.ts';
import { decodeSpecs } from './decode-frame.ts';

interface Way {
  send(frame: GatewayFrame): void;
}

export async function registerTools(
  engine: Engine,
  device: Device,
  tools: readonly unknown[],
  way: Way,
): Promise<void> {
  const { specs, rejected } = decodeSpecs(tools);
  const report = await engine.devices.offer(device, specs);
  way.send({
    type: 'tools_registered',
    count: tools.length,
    registered: device.tools.size,
    rejected: [...rejected, ...report.rejected],
  });
  engine.devices.sendWaiting(device, report.registered);
}

/** `names` null: all. */
export async function unregisterTools(
  engine: Engine,
  device: Device,
  names: readonly string[] | null,
  way: Way,
): Promise<void> {
  const removed = await engine.devices.takeBack(device, names);
  way.send({ type: 'tools_unregistered', removed });
}

export function registeredTools({ registry }: Engine, { tenant, tools: names }: Device, way: Way): void {
  const tools = [...names].map((name) => ({
    name,
    version: registry.clientTool(tenant, name)?.version ?? '',
  }));
  way.send({ type: 'registered_tools', tools });
}
