import { expect, it } from 'vitest';
import { startServer } from '../support/server-process.ts';
import { aDevice, DEVICE_INFO } from './support/bare-device.ts';

it('a server that stops records the removal of tools, also for a device that does not return the close frame', async () => {
  const server = await startServer();
  const device = await aDevice(Number(server.port));
  await device.register(DEVICE_INFO);
  device.socket.pause();
  expect(await server.stop()).toBe(0);
  device.socket.terminate();
  expect(server.log()).toContain('server.stopped');
  expect(server.log()).not.toContain('"level":"error"');
});
