import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { callId, ended } from './support/agent.ts';
import { aDevice, CAMERA, DEVICE_INFO, type BareDevice } from './support/bare-device.ts';

let server: TestPlatform;
let device: BareDevice;

beforeEach(async () => {
  server = await aPlatform();
  device = await aDevice(server.port, { path: '/ws?session_id=abc-123&platform=android' });
});
afterEach(async () => {
  device.socket.terminate();
  await server.close();
});

describe('a device written for the gateway before this one', () => {
  it('connects with members in the query, greets with connect, and is called by its name', async () => {
    device.send({ type: 'connect', session_id: 'abc-123', device_name: 'pixel-8', capabilities: ['camera'] });
    expect(await device.next('connected')).toEqual({
      type: 'connected',
      v: 1,
      message: expect.any(String) as string,
    });
    await device.register(CAMERA);
    const { json } = await server.asOperator('GET', '/v1/devices');
    expect(json).toMatchObject({ devices: [{ name: 'pixel-8', tools: ['camera'] }] });
    const id = await callId(server, 'camera', { target: 'pixel-8' });
    const request = await device.next('tool_call_request');
    device.send({ type: 'tool_result', id: request['id'], output: 'a picture', success: true });
    expect(await ended(server, id)).toMatchObject({ status: 'SUCCEEDED', result: 'a picture' });
  });

  it('may leave every member of connect out, send null, or a name with spaces', async () => {
    for (const greeting of [{}, { session_id: null, device_name: null }, { device_name: 'Pixel 8 Pro' }]) {
      device.send({ type: 'connect', ...greeting });
      expect(await device.next('connected')).toMatchObject({ v: 1 });
    }
    expect(await device.register(CAMERA)).toMatchObject({ count: 1, registered: 1 });
  });

  it('counts tools of the message as count, and of the connection as registered', async () => {
    expect(await device.register(DEVICE_INFO)).toMatchObject({ count: 1, registered: 1 });
    expect(await device.register(CAMERA)).toMatchObject({ count: 1, registered: 2 });
    expect(await device.register(CAMERA)).toMatchObject({ count: 1, registered: 2 });
    expect(await device.register({ name: 'no spaces', parameters: {} }, 'nothing')).toMatchObject({
      count: 2,
      registered: 2,
    });
  });

  it('tells frames that are no JSON and types that are not known apart', async () => {
    device.socket.send('{"type":');
    expect(await device.next('error')).toMatchObject({ code: 'INVALID_JSON', failure_code: 'body_invalid' });
    device.send({ type: 'dance', id: 'x1' });
    expect(await device.next('error')).toMatchObject({
      code: 'UNKNOWN_MESSAGE_TYPE',
      failure_code: 'body_invalid',
      id: 'x1',
    });
    device.send({ type: 'register_tools', tools: 'none' });
    expect(await device.next('error')).toMatchObject({ code: 'body_invalid', failure_code: 'body_invalid' });
  });
});
