import type { Device } from '../../core/devices/device.ts';
import type { Engine } from '../../core/engine.ts';
import { decodeSpecs } from './decode-frame.ts';
import type { FrameSender } from './frames.ts';

export async function registerTools(
  engine: Engine,
  device: Device,
  tools: readonly unknown[],
  sender: FrameSender,
): Promise<void> {
  const { specs, rejected } = decodeSpecs(tools);
  const report = await engine.devices.offer(device, specs);
  sender.send({
    type: 'tools_registered',
    count: tools.length,
    registered: device.tools.size,
    rejected: [...rejected, ...report.rejected],
  });
  engine.devices.sendWaiting(device, report.registered);
}

/** With `names` null, all tools. */
export async function unregisterTools(
  engine: Engine,
  device: Device,
  names: readonly string[] | null,
  sender: FrameSender,
): Promise<void> {
  const removed = await engine.devices.takeBack(device, names);
  sender.send({ type: 'tools_unregistered', removed });
}

export function registeredTools(
  { toolIndex }: Engine,
  { tenant, tools: names }: Device,
  sender: FrameSender,
): void {
  const tools = [...names].map((name) => ({
    name,
    version: toolIndex.clientTool(tenant, name)?.version ?? '',
  }));
  sender.send({ type: 'registered_tools', tools });
}
