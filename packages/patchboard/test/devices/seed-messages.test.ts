import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { callId, ended, invoke, toolNames } from './support/agent.ts';
import { aDevice, CAMERA, DEVICE_INFO, type BareDevice } from './support/bare-device.ts';

let server: TestPlatform;
let device: BareDevice;

beforeEach(async () => {
  server = await aPlatform();
  device = await aDevice(server.port);
});
afterEach(async () => {
  device.socket.terminate();
  await server.close();
});

describe('a device that knows only the plain messages', () => {
  it('registers, gets a request, sends a result and gets the acknowledgement', async () => {
    expect(await device.register(DEVICE_INFO, CAMERA)).toEqual({
      type: 'tools_registered',
      count: 2,
      registered: 2,
      rejected: [],
    });
    expect(await toolNames(server)).toEqual(['camera', 'device_info']);
    expect(await toolNames(server, '/api/tools')).toEqual(['camera', 'device_info']);
    const id = await callId(server, 'camera', { args: { quality: 'low' } });
    const request = await device.next('tool_call_request');
    expect(request).toMatchObject({ name: 'camera', args: { quality: 'low' }, attempt: 1 });
    const running = await server.ask({ method: 'GET', path: `/v1/tool_calls/${id}` });
    expect(running.json).toMatchObject({ state: 'EXECUTING', status: 'RUNNING' });
    const output = '{"model":"Pixel 8","manufacturer":"Google","android_version":"14"}';
    device.send({ type: 'tool_result', id: request['id'], output, success: true });
    expect(await device.next('result_acknowledged')).toEqual({
      type: 'result_acknowledged',
      id: request['id'],
      accepted: true,
    });
    expect(await ended(server, id)).toMatchObject({ status: 'SUCCEEDED', source: 'client', result: output });
  });

  it('may return any JSON, and it is kept as it is', async () => {
    await device.register(DEVICE_INFO);
    for (const output of [{ model: 'Pixel 8' }, [1, 'a', null], 7, false, null, '']) {
      const id = await callId(server, 'device_info');
      const request = await device.next('tool_call_request');
      device.send({ type: 'tool_result', id: request['id'], output, success: true });
      expect((await ended(server, id)).result).toEqual(output);
    }
  });

  it('adds up several registrations, and gets each tool that is not taken', async () => {
    await device.register(DEVICE_INFO);
    const second = await device.register(
      CAMERA,
      { name: 'no spaces', parameters: {} },
      { name: 'weather.query', parameters: { type: 'object' } },
      { name: 'odd', parameters: { type: 'nonsense' } },
      { name: 'hidden', description: 'do\u200bthis', parameters: { type: 'object' } },
      { name: 'bare' },
      'nothing',
    );
    expect(second).toMatchObject({ count: 7, registered: 2 });
    expect(
      (second['rejected'] as { name: string; code: string }[]).map(({ name, code }) => [name, code]),
    ).toEqual([
      ['bare', 'schema_invalid'],
      ['tools[6]', 'body_invalid'],
      ['no spaces', 'name_invalid'],
      ['weather.query', 'name_taken'],
      ['odd', 'schema_invalid'],
      ['hidden', 'schema_invalid'],
    ]);
    expect(await toolNames(server)).toEqual(['camera', 'device_info']);
  });
});

describe('what can go wrong', () => {
  it('without a handler: tool_error "No handler registered" is the failure of the call', async () => {
    await device.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await device.next('tool_call_request');
    device.send({ type: 'tool_error', id: request['id'], error: 'No handler registered', success: false });
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: true });
    expect(await ended(server, id)).toMatchObject({
      status: 'FAILED',
      error: { code: 'tool_failed', message: 'No handler registered' },
    });
  });

  it('a handler that throws: tool_error with its message', async () => {
    await device.register(CAMERA);
    const id = await callId(server, 'camera');
    const request = await device.next('tool_call_request');
    device.send({ type: 'tool_error', id: request['id'], error: 'Camera permission denied', success: false });
    expect((await ended(server, id)).error?.message).toBe('Camera permission denied');
  });

  it('tool_result with success false is a failure too', async () => {
    await device.register(CAMERA);
    const id = await callId(server, 'camera');
    const request = await device.next('tool_call_request');
    device.send({ type: 'tool_result', id: request['id'], output: 'no film', success: false });
    expect(await ended(server, id)).toMatchObject({ status: 'FAILED', error: { message: 'no film' } });
  });

  it('no result in time: the agent gets a timeout, the device a cancel, and its late result is not kept', async () => {
    await device.register({ ...DEVICE_INFO, timeout_ms: 300 });
    const id = await callId(server, 'device_info');
    const request = await device.next('tool_call_request');
    expect(await ended(server, id)).toMatchObject({
      status: 'TIMEOUT',
      error: { code: 'timeout', message: 'Remote tool timeout (0.3s)', outcome: 'unknown' },
    });
    expect(await device.next('cancel')).toEqual({ type: 'cancel', id: request['id'], reason: 'timeout' });
    device.send({ type: 'tool_result', id: request['id'], output: 'at last', success: true });
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'late' });
    expect((await ended(server, id)).result).toBeNull();
  });

  it('the default time is 30 s', async () => {
    await device.register(DEVICE_INFO);
    const { json } = await server.ask({ method: 'GET', path: '/v1/tools/device_info' });
    expect(json).toMatchObject({ timeout_ms: 30_000, provider: { kind: 'client', online: true } });
  });

  it('a socket that closes takes its tools along and ends its calls', async () => {
    await device.register(DEVICE_INFO, CAMERA);
    const id = await callId(server, 'camera');
    await device.next('tool_call_request');
    device.socket.terminate();
    expect(await ended(server, id)).toMatchObject({
      status: 'FAILED',
      error: { code: 'provider_disconnected', outcome: 'unknown' },
    });
    expect(await toolNames(server, '/api/tools')).toEqual([]);
    expect((await invoke(server, 'camera')).json).toMatchObject({ code: 'tool_not_found' });
  });

  it('an id that does not match is dropped, and the device gets the reason', async () => {
    await device.register(DEVICE_INFO);
    for (const id of ['550e8400-e29b-41d4-a716-446655440000', 'tc_0:1.x', '']) {
      device.send({ type: 'tool_result', id, output: 'whose?', success: true });
      expect(await device.next('result_acknowledged')).toEqual({
        type: 'result_acknowledged',
        id,
        accepted: false,
        reason: 'unknown',
      });
    }
  });

  it('the same result again is a duplicate, another one a conflict', async () => {
    await device.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await device.next('tool_call_request');
    const result = { type: 'tool_result', id: request['id'], output: 'one', success: true };
    device.send(result);
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: true });
    device.send(result);
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: true, duplicate: true });
    device.send({ ...result, output: 'two' });
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'conflict' });
    device.send({ type: 'tool_error', id: request['id'], error: 'changed my mind' });
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'conflict' });
    expect((await ended(server, id)).result).toBe('one');
  });

  it('a frame that is not understood gets an error, and the next one is read', async () => {
    for (const [text, part] of [
      ['hello', 'not acceptable JSON'],
      ['[]', 'a frame is a JSON object'],
      ['{}', 'type is missing; it must be one of'],
      ['{"type":"dance"}', 'type "dance" is not known'],
      ['{"type":"register_tools"}', "must have required property 'tools'"],
      ['{"type":"tool_result"}', "must have required property 'id'"],
      ['{"type":"ping","__proto__":{"a":1}}', '__proto__'],
      ['{"type":"ping","type":"ping"}', 'type'],
    ] as const) {
      device.socket.send(text);
      const error = await device.next('error');
      expect(error).toMatchObject({ failure_code: 'body_invalid' });
      expect(error['message']).toContain(part);
    }
    device.socket.send(Buffer.from('{"type":"ping"}'));
    expect(await device.next('error')).toMatchObject({ message: 'frames are text' });
    device.send({ type: 'ping' });
    await device.next('pong');
  });
});
