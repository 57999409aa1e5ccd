import type { Device } from '../../src/core/devices/device.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { World } from './world.ts';

/** A connection of a device to a process, which may be over. */
interface ConnectedDevice {
  readonly process: SimulatedProcess;
  readonly device: Device;
}

const noted: WeakMap<World, Map<Device, SimulatedProcess>> = new WeakMap();

/** Remembers the devices that the engines know now: they forget those that leave, and what is reserved of them must be released. */
export function noteDevices(world: World): void {
  const all = noted.get(world) ?? new Map<Device, SimulatedProcess>();
  noted.set(world, all);
  for (const { incarnations } of world.nodes)
    for (const { process, engine } of incarnations)
      for (const device of engine.devices.of('default')) all.set(device, process);
}

/** All that were connected to processes that still run. */
export function connectedDevices(world: World): ConnectedDevice[] {
  return [...(noted.get(world) ?? [])].flatMap(([device, process]) =>
    process.isDead ? [] : [{ process, device }],
  );
}
