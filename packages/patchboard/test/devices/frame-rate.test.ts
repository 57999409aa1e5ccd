import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { TimerWheel } from '../../src/core/timer-wheel.ts';
import { DeviceConnection } from '../../src/transports/device-gateway/device-connection.ts';
import { UnfinishedMessage } from '../../src/transports/device-gateway/unfinished-message.ts';
import { ByteBudget } from '../../src/transports/shared/http/byte-budget.ts';
import { anEngine, aPrincipal, silentLog } from '../support/an-engine.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aDevice, type BareDevice } from './support/bare-device.ts';
import { waitFor } from '../support/wait-for.ts';

const PER_SECOND = 200;
const SENT = 2 * PER_SECOND;

const closeLater = closedAfterEach();

/** A device over a real socket, and the server's end of it, whose time is the test's. */
async function aConnection(clock: FakeClock): Promise<{ device: BareDevice; socket: WebSocket }> {
  const { engine } = await anEngine({ clock, limits: { deviceFramesPerSecond: PER_SECOND } });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  closeLater(() => server.close());
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  const device = await aDevice((server.address() as AddressInfo).port, { path: '/' });
  closeLater(() => device.socket.terminate());
  const [socket] = await connected;
  const json = { depth: 10, values: 100 };
  const parts = { engine, clock, log: silentLog, limits: engine.limits, json, wheel: new TimerWheel(clock) };
  const unfinished = new UnfinishedMessage({
    budget: new ByteBudget(1_000_000),
    tenant: 'default',
    bytesRead: () => 0,
  });
  new DeviceConnection(parts, socket, { principal: aPrincipal(), unfinished, onClosed: () => undefined });
  return { device, socket };
}

it('a device that sends too fast is paused until its token bucket refills, and no frame is lost', async () => {
  const clock = new FakeClock();
  const { device, socket } = await aConnection(clock);
  let pongs = 0;
  device.socket.on('message', () => (pongs += 1));
  const filler = 'x'.repeat(2000);
  for (let sent = 0; sent < SENT; sent += 1) device.send({ type: 'ping', filler });
  for (let seen = 0; seen <= PER_SECOND; seen += 1) await device.next('pong');
  // The burst is used up, and no time goes by: the rest stays in the network.
  expect(socket.isPaused).toBe(true);
  expect(pongs).toBeLessThan(SENT);
  await waitFor(async () => {
    if (socket.isPaused) await clock.advance(1000);
    expect(pongs).toBe(SENT);
  });
});
