import { describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { callId, ended, invoke, toolNames } from './support/agent.ts';
import { aDevice, DEVICE_INFO, type BareDevice } from './support/bare-device.ts';
import { openSse } from '../http/support/sse-reader.ts';
import { deviceStates } from './support/device-events.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();

async function aServer(limits: object = {}): Promise<TestPlatform> {
  const server = await aPlatform({ config: { limits } });
  closeLater(() => server.close());
  return server;
}

async function connected(server: TestPlatform, options?: Parameters<typeof aDevice>[1]): Promise<BareDevice> {
  const device = await aDevice(server.port, options);
  closeLater(() => device.socket.terminate());
  return device;
}

describe('a device', () => {
  it('that misses its heartbeats is disconnected, and its calls end', async () => {
    // Long enough for a busy machine: the other device must not miss one.
    const server = await aServer({ device_heartbeat_ms: 500 });
    const alive = await connected(server);
    await alive.register({ ...DEVICE_INFO, name: 'alive' });
    const dead = await connected(server, { autoPong: false });
    await dead.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    await dead.next('tool_call_request');
    expect(await dead.closed).toMatchObject({ code: 1006 });
    expect((await ended(server, id)).error?.code).toBe('provider_disconnected');
    expect(await toolNames(server)).toEqual(['alive']);
    expect(alive.socket.readyState).toBe(alive.socket.OPEN);
  });

  it('that sends a frame over the limit is closed with 1009', async () => {
    const server = await aServer({ result_bytes: 1000, frame_bytes: 70_000 });
    const device = await connected(server);
    device.send({ type: 'ping', filler: 'x'.repeat(69_900) });
    await device.next('pong');
    device.send({ type: 'ping', filler: 'x'.repeat(70_000) });
    expect((await device.closed).code).toBe(1009);
  });

  it('that begins a large message and does not end it is closed with 1013, though it responds to pings', async () => {
    const server = await aServer({ device_heartbeat_ms: 500 });
    const [slow, idle] = [await connected(server), await connected(server)];
    idle.socket.send('{"type":', { fin: false });
    slow.socket.send(' '.repeat(200_000), { fin: false });
    expect((await slow.closed).code).toBe(1013);
    // A small one takes no room, and may take its time.
    idle.socket.send('"ping"}', { fin: true });
    await idle.next('pong');
  });

  it('that does not read is closed with 1013, and its calls end', async () => {
    const server = await aServer({ device_buffer_bytes: 100_000, open_calls_per_tenant: 1000 });
    const device = await connected(server);
    await device.register({ ...DEVICE_INFO, parameters: { type: 'object' } });
    const other = await connected(server);
    device.socket.pause();
    const filler = 'x'.repeat(500_000);
    let dropped = false;
    for (let sent = 0; !dropped && sent < 100; sent += 1) {
      await invoke(server, 'device_info', { args: { filler } });
      dropped = !(await toolNames(server)).includes('device_info');
    }
    expect(dropped).toBe(true);
    expect(server.log()).toContain('device.not_reading');
    await waitFor(async () => {
      const { json } = await server.ask({ method: 'GET', path: '/v1/stats' });
      expect(json).toMatchObject({ open: 0 });
    });
    other.send({ type: 'ping' });
    await other.next('pong');
  });

  it('that only pings and does not read is dropped too', async () => {
    const server = await aServer({ device_buffer_bytes: 10_000, device_frames_per_second: 1_000_000 });
    const device = await connected(server);
    device.socket.pause();
    const data = Buffer.alloc(100);
    while (!server.log().includes('device.not_reading')) {
      for (let sent = 0; sent < 5000; sent += 1) device.socket.ping(data);
      await new Promise((resolve) => setImmediate(resolve));
    }
    device.socket.resume();
    expect([1006, 1013]).toContain((await device.closed).code);
  });

  it('that sends more than can be stored at once is read more slowly, and gets a response to all of it', async () => {
    const server = await aServer({ result_bytes: 1000, frame_bytes: 70_000 });
    const device = await connected(server);
    const tools = Array.from({ length: 20 }, (_, index) => ({
      ...DEVICE_INFO,
      name: `tool_${index}`,
      description: 'x'.repeat(500),
    }));
    for (let sent = 0; sent < 50; sent += 1) device.send({ type: 'register_tools', tools });
    for (let seen = 0; seen < 50; seen += 1) {
      expect(await device.next('tools_registered')).toMatchObject({ registered: 20 });
    }
  });

  // That it is read more slowly is in frame-rate.test.ts.
  it('that sends too fast loses nothing of what it says', async () => {
    const server = await aServer({ device_frames_per_second: 200 });
    const device = await connected(server);
    const filler = 'x'.repeat(2000);
    for (let sent = 0; sent < 400; sent += 1) device.send({ type: 'ping', filler });
    for (let seen = 0; seen < 400; seen += 1) await device.next('pong');
  });

  it('one too many of a tenant is refused before the upgrade', async () => {
    const server = await aServer({ devices_per_tenant: 2 });
    const first = await connected(server);
    await connected(server);
    await expect(connected(server)).rejects.toThrow('503');
    await expect(connected(server, { headers: { 'x-tenant-id': 'other' } })).resolves.toBeDefined();
    await first.close();
    await waitFor(async () => await connected(server));
  });

  it('one too many of an address is refused before the upgrade', async () => {
    const config = { http: { trust_proxy: true }, limits: { devices_per_address: 2 } };
    const server = await aPlatform({ config });
    closeLater(() => server.close());
    const key = await server.mint({ kind: 'client', name: 'phones' });
    // The proxy is this machine; what counts is who is behind it.
    const from = (address: string): Promise<BareDevice> =>
      connected(server, { headers: { ...key.headers, 'x-forwarded-for': address } });
    const first = await from('203.0.113.7');
    await from('203.0.113.7');
    await expect(from('203.0.113.7')).rejects.toThrow('503');
    await expect(from('203.0.113.8')).resolves.toBeDefined();
    await first.close();
    await waitFor(async () => await from('203.0.113.7'));
    await expect(from('203.0.113.7')).rejects.toThrow('503');
  });

  it('cannot forge another address than the one the proxy saw', async () => {
    const config = { http: { trust_proxy: true }, limits: { devices_per_address: 1 } };
    const server = await aPlatform({ config });
    closeLater(() => server.close());
    const key = await server.mint({ kind: 'client', name: 'phones' });
    // A proxy adds whom it saw to what the client wrote itself.
    const claiming = (address: string): Promise<BareDevice> =>
      connected(server, { headers: { ...key.headers, 'x-forwarded-for': `${address}, 203.0.113.7` } });
    await claiming('198.51.100.1');
    await expect(claiming('198.51.100.2')).rejects.toThrow('503');
  });

  it('of this machine is not counted by its address', async () => {
    const server = await aServer({ devices_per_address: 1 });
    await connected(server);
    await expect(connected(server)).resolves.toBeDefined();
  });

  it('may not register more tools than a client may', async () => {
    const server = await aServer({ tools_per_client: 3 });
    const device = await connected(server);
    const tools = ['a', 'b', 'c', 'd'].map((name) => ({ ...DEVICE_INFO, name }));
    expect(await device.register(...tools)).toMatchObject({
      count: 4,
      registered: 3,
      rejected: [{ name: 'd', code: 'too_large' }],
    });
  });
});

describe('who comes and goes', () => {
  it('is reported in events and counted', async () => {
    const server = await aServer();
    const events = await openSse(`http://127.0.0.1:${server.port}/v1/events`);
    const device = await connected(server);
    device.send({ type: 'hello', client_id: 'phones', name: 'pixel' });
    const { session } = await device.next('welcome');
    const said = async (): Promise<unknown> => {
      for (;;) {
        const frame = await events.next();
        if (frame?.event === 'device.changed') return JSON.parse(frame.data);
      }
    };
    const pixel = { client_id: 'phones', name: 'pixel', session };
    expect(await said()).toMatchObject({ ...pixel, state: 'online' });
    const { text } = await server.ask({ method: 'GET', path: '/metrics' });
    expect(text).toContain('patchboard_devices_connected 1');
    await device.close();
    expect(await said()).toMatchObject({ ...pixel, state: 'gone' });
    events.close();
  });
});

describe('the same rules as for any other call', () => {
  it('a camera asks an operator, and takes the picture that was approved', async () => {
    const server = await aServer();
    const phone = await connected(server);
    const camera = {
      name: 'camera',
      parameters: { type: 'object', properties: { quality: { enum: ['low', 'high'] }, secret: {} } },
      output_schema: { type: 'object', required: ['bytes'] },
      annotations: { requires_approval: true },
    };
    await phone.register(camera);
    expect((await invoke(server, 'camera', { args: { quality: 'best' } })).json).toMatchObject({
      code: 'input_invalid',
    });
    const id = await callId(server, 'camera', { args: { quality: 'low' } });
    const { json: waiting } = await server.asOperator('GET', `/v1/tool_calls/${id}`);
    expect(waiting).toMatchObject({ state: 'APPROVAL_REQUIRED' });
    // No call was made yet: the next frame is the reply to this one.
    phone.send({ type: 'ping' });
    await phone.next('pong');
    const { digest } = (waiting as { approval: { digest: string } }).approval;
    await server.asOperator('POST', `/v1/tool_calls/${id}/decision`, { decision: 'allow', digest });
    const request = await phone.next('tool_call_request');
    expect(request).toMatchObject({ name: 'camera', args: { quality: 'low' } });
    phone.send({ type: 'progress', id: request['id'], data: { percent: 50 } });
    phone.send({ type: 'tool_result', id: request['id'], output: { bytes: 3 } });
    expect(await ended(server, id)).toMatchObject({
      status: 'SUCCEEDED',
      result: { bytes: 3 },
      timeline: [
        { state: 'PENDING' },
        { state: 'APPROVAL_REQUIRED' },
        { state: 'APPROVED' },
        { state: 'EXECUTING' },
        { state: 'COMPLETED' },
      ],
    });
  });

  it('an output that breaks its schema is not kept as a result', async () => {
    const server = await aServer();
    const phone = await connected(server);
    await phone.register({ ...DEVICE_INFO, output_schema: { type: 'object', required: ['model'] } });
    const id = await callId(server, 'device_info');
    const request = await phone.next('tool_call_request');
    // Taking the tool back first does not get it around its own contract.
    phone.send({ type: 'unregister_tools' });
    await phone.next('tools_unregistered');
    phone.send({ type: 'tool_result', id: request['id'], output: 'Pixel' });
    expect((await ended(server, id)).error?.code).toBe('output_invalid');
  });

  it('a cancel reaches the device', async () => {
    const server = await aServer();
    const phone = await connected(server);
    await phone.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await phone.next('tool_call_request');
    await server.ask({ method: 'POST', path: `/v1/tool_calls/${id}/cancel`, body: {} });
    expect(await phone.next('cancel')).toEqual({ type: 'cancel', id: request['id'], reason: 'cancelled' });
    expect((await deviceStates(server))[0]).toMatchObject({ open_calls: 0, tools: ['device_info'] });
  });

  it('secrets in the arguments are gone after the end, and hidden tools show nowhere', async () => {
    const server = await aPlatform({
      config: { redact: ['pin'], policy: { default: { autoDenyTools: ['lock'] } } },
    });
    closeLater(() => server.close());
    const phone = await connected(server);
    await phone.register(
      { name: 'unlock', parameters: { type: 'object' } },
      { name: 'lock', parameters: {} },
    );
    expect(await toolNames(server, '/api/tools')).toEqual(['unlock']);
    const id = await callId(server, 'unlock', { args: { pin: '4711' } });
    const request = await phone.next('tool_call_request');
    expect(request['args']).toEqual({ pin: '4711' });
    phone.send({ type: 'tool_result', id: request['id'], output: true });
    expect((await ended(server, id)).args).not.toEqual({ pin: '4711' });
  });
});
