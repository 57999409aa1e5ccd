import type { DeviceToolSpec } from '@patchboard/wire';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { Reporting } from '../device-work.ts';
import { SimulatedDevice } from '../simulated-device.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { agents } from './agents.ts';
import { planCalls } from './planned-calls.ts';

interface DeviceData {
  readonly device: number;
  readonly node: number;
  readonly tool: string;
  /** When the server notices that the device has vanished; null: with its heartbeat. */
  readonly noticedMs: number | null;
  readonly backMs: number;
  readonly forgets: boolean;
}

const FIRST_NUMBER = 1000;
const DEVICES = 3;
/** After faults are over, devices stay until they have reported what they hold, at most this long. */
const STAY_MS = 6000;
const LOOK_MS = 250;

const TOOLS: readonly DeviceToolSpec[] = [
  { name: 'phone.plain', parameters: { type: 'object' }, timeout_ms: 3000 },
  {
    name: 'phone.idempotent',
    parameters: { type: 'object' },
    timeout_ms: 4000,
    annotations: { idempotent: true },
  },
  { name: 'phone.asks', parameters: { type: 'object' }, timeout_ms: 3000 },
];
const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

const fleets: WeakMap<World, readonly SimulatedDevice[]> = new WeakMap();

/** Devices of one client that connect, vanish, resume and leave, and the calls that agents make to their tools. */
export const devices: Actor = { name: 'devices', plan, perform, calm };

function plan(stream: Stream, profile: Profile): StepDraft[] {
  if (!profile.hasDevices) return [];
  const { activeMs, nodes } = profile;
  const calls = planCalls(stream, profile, {
    actor: 'devices',
    count: stream.integer(4, 14),
    first: FIRST_NUMBER,
    tools: TOOL_NAMES,
    args: drawArgs,
  });
  const connects = Array.from({ length: DEVICES }, (_, device) => {
    // Most are there from the beginning.
    const at = device === 0 ? 1 : stream.delay(1, activeMs);
    return { at, do: 'connect', data: { device, node: stream.integer(0, nodes - 1) } };
  });
  const events = Array.from({ length: stream.integer(0, 8) }, () => {
    const word = stream.weighted([
      [6, 'vanish'],
      [1, 'leave'],
      [1, 'unregister'],
      [1, 'register'],
    ]);
    const data: DeviceData = {
      device: stream.integer(0, DEVICES - 1),
      node: stream.integer(0, nodes - 1),
      tool: stream.pick(TOOL_NAMES),
      noticedMs: stream.chance(0.4) ? null : stream.delay(0, 1500),
      // Most return to another node within the grace period.
      backMs: stream.delay(1, nodes > 1 ? 2000 : 5000),
      forgets: stream.chance(0.2),
    };
    return { at: stream.next() * activeMs, do: word, data: { ...data } };
  });
  return [...calls, ...connects, ...events];
}

function drawArgs(stream: Stream): Readonly<Record<string, unknown>> {
  const ms = stream.weighted([
    [2, 1],
    [5, stream.integer(1, 600)],
    [2, stream.integer(600, 4000)],
  ]);
  const reports = stream.weighted<Reporting>([
    [6, 'once'],
    [2, 'twice'],
    [2, 'other'],
    [1, 'never'],
  ]);
  return { ms, ends: stream.chance(0.85) ? 'ok' : 'fails', reports, isStubborn: stream.chance(0.3) };
}

function perform(world: World, step: Step): void | Promise<void> {
  const { device: number, node, tool, noticedMs, backMs, forgets } = step.data as unknown as DeviceData;
  const device = fleetOf(world)[number];
  if (device === undefined) return agents.perform(world, step);
  if (step.do === 'connect') return device.connect(node);
  if (step.do === 'vanish') return device.vanish(noticedMs, forgets, backMs, node);
  if (step.do === 'leave') return device.leave();
  return step.do === 'register' ? device.register(tool) : device.unregister(tool);
}

function calm(world: World): void {
  if (world.profile.hasDevices) world.track({ id: 'devices' }, leaveWhenIdle(world));
}

async function leaveWhenIdle(world: World): Promise<void> {
  const { kernel } = world;
  const end = kernel.now + STAY_MS;
  const fleet = fleetOf(world);
  do await kernel.sleep(LOOK_MS);
  while (kernel.now < end && fleet.some(({ isIdle }) => !isIdle));
  for (const device of fleet) device.leave();
}

function fleetOf(world: World): readonly SimulatedDevice[] {
  const known = fleets.get(world);
  if (known !== undefined) return known;
  const fleet = Array.from(
    { length: DEVICES },
    (_, index) => new SimulatedDevice(world, `phone-${index + 1}`, TOOLS),
  );
  fleets.set(world, fleet);
  return fleet;
}
