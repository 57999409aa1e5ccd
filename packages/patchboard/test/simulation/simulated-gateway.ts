import { ByteBudget } from '../../src/transports/shared/http/byte-budget.ts';
import { DeviceConnection } from '../../src/transports/device-gateway/device-connection.ts';
import type { GatewayParts } from '../../src/transports/device-gateway/gateway.ts';
import { UnfinishedMessage } from '../../src/transports/device-gateway/unfinished-message.ts';
import type { Engine } from '../../src/core/engine.ts';
import type { Clock } from '../../src/core/ports.ts';
import type { TimerWheel } from '../../src/core/timer-wheel.ts';
import { clientPrincipal } from './actors/principals.ts';
import { SimulatedSocket, type SocketPeer } from './simulated-socket.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { World } from './world.ts';

interface ProcessGateway {
  readonly parts: GatewayParts;
  readonly connections: Set<DeviceConnection>;
}

const JSON_LIMITS = { depth: 100, values: 100_000 };
const gateways: WeakMap<SimulatedProcess, ProcessGateway> = new WeakMap();

/** Opens a connection of a device to the real device gateway of a process. */
export function connectDevice(
  world: World,
  process: SimulatedProcess,
  engine: Engine,
  device: { readonly clientId: string; readonly delay: () => number; readonly peer: SocketPeer },
): SimulatedSocket {
  const { clientId, delay, peer } = device;
  const socket = new SimulatedSocket(world.kernel, process, delay, peer);
  process.enter(() => accept(gatewayOf(world, process, engine), socket, clientId));
  return socket;
}

function accept({ parts, connections }: ProcessGateway, socket: SimulatedSocket, clientId: string): void {
  const unfinished = new UnfinishedMessage({
    budget: new ByteBudget(1_000_000),
    tenant: 'default',
    bytesRead: () => 0,
  });
  const connection: DeviceConnection = new DeviceConnection(parts, socket as never, {
    principal: clientPrincipal(clientId),
    unfinished,
    onClosed: () => connections.delete(connection),
  });
  connections.add(connection);
}

function gatewayOf(world: World, process: SimulatedProcess, engine: Engine): ProcessGateway {
  const known = gateways.get(process);
  if (known !== undefined) return known;
  const { clock } = process;
  const note =
    (level: string) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      world.history.add(process.name, level, { event, ...fields });
  const gateway: ProcessGateway = {
    parts: {
      engine,
      clock,
      log: { info: () => {}, warn: note('warn'), error: note('error') },
      limits: engine.limits,
      json: JSON_LIMITS,
      wheel: singleTimers(clock),
    },
    connections: new Set(),
  };
  // A server that was taken over closes its connections, and ends.
  engine.onFenced(() => {
    for (const connection of gateway.connections) connection.end(1001, 'the server was taken over');
  });
  gateways.set(process, gateway);
  return gateway;
}

/** As a timer wheel, without its ticks, each of which is an event. */
function singleTimers(clock: Clock): TimerWheel {
  const after: TimerWheel['after'] = (ms, action) => clock.after(ms, action);
  return { after } as TimerWheel;
}
