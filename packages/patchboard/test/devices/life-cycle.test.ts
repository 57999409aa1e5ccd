import { describe, expect, it } from 'vitest';
import {
  aDataFolder,
  aPlatform,
  platformsOfTests,
  type PlatformGiven,
  type TestPlatform,
} from '../guard/support/a-platform.ts';
import { callId, ended, toolNames } from './support/agent.ts';
import { aDevice, DEVICE_INFO, type BareDevice, type Frame } from './support/bare-device.ts';
import { deviceStates, untilDevice } from './support/device-events.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();

const aServer = platformsOfTests(closeLater);

async function connected(
  server: TestPlatform,
  ...rest: [Parameters<typeof aDevice>[1]?]
): Promise<BareDevice> {
  const device = await aDevice(server.port, ...rest);
  closeLater(() => device.socket.terminate());
  return device;
}

async function hello(device: BareDevice, given: object = {}): Promise<Frame> {
  device.send({ type: 'hello', protocol: 1, client_id: 'phones', ...given });
  return await device.next('welcome');
}

const limits = (given: object): PlatformGiven => ({ config: { limits: given } });

describe('two sockets with one identity', () => {
  it('the late close of the first never removes the tools of the second', async () => {
    const server = await aServer();
    const first = await connected(server);
    const { session: firstSession } = await hello(first, { name: 'pixel' });
    await first.register(DEVICE_INFO);
    const second = await connected(server);
    await hello(second, { name: 'pixel' });
    expect(await second.register(DEVICE_INFO)).toMatchObject({ registered: 1 });
    // The order is certain: the second has registered before the first is closed, and the close is seen.
    first.socket.terminate();
    await untilDevice(server, String(firstSession), 'gone');
    expect(await toolNames(server)).toEqual(['device_info']);
    const id = await callId(server, 'device_info');
    const request = await second.next('tool_call_request');
    second.send({ type: 'tool_result', id: request['id'], output: 'second' });
    expect((await ended(server, id)).result).toBe('second');
    await second.close();
    await waitFor(async () => expect(await toolNames(server)).toEqual([]));
  });

  it('a hundred times over, whichever closes, one stays callable', async () => {
    const server = await aServer();
    let current = await connected(server);
    await current.register(DEVICE_INFO);
    for (let round = 0; round < 100; round += 1) {
      const next = await connected(server);
      // Both at once: the old one goes while the new one registers.
      const registered = next.register(DEVICE_INFO);
      current.socket.terminate();
      expect(await registered).toMatchObject({ registered: 1 });
      await current.closed;
      current = next;
    }
    await waitFor(async () => expect((await deviceStates(server)).length).toBe(1));
    expect(await toolNames(server)).toEqual(['device_info']);
    const id = await callId(server, 'device_info');
    const request = await current.next('tool_call_request');
    current.send({ type: 'tool_result', id: request['id'], output: 1 });
    expect((await ended(server, id)).status).toBe('SUCCEEDED');
  });
});

describe('a device that comes back in time', () => {
  it('delivers results of calls from before the disconnect once, and gets them no second time', async () => {
    const server = await aServer();
    const phone = await connected(server);
    const welcome = await hello(phone);
    expect(welcome).toMatchObject({
      heartbeat_ms: 5000,
      max_frame_bytes: 1_114_112,
      grace_ms: 10_000,
      resumed: false,
    });
    await phone.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await phone.next('tool_call_request');
    phone.socket.terminate();
    await untilDevice(server, String(welcome['session']), 'away');
    expect(await toolNames(server)).toEqual([]);
    const again = await connected(server);
    const back = await hello(again, { resume: welcome['resume_token'], holding: [request['id']] });
    expect(back).toMatchObject({ resumed: true });
    expect(back['session']).not.toBe(welcome['session']);
    again.send({ type: 'tool_result', id: request['id'], output: 'kept in the pocket' });
    expect(await again.next('result_acknowledged')).toMatchObject({ accepted: true });
    expect(await ended(server, id)).toMatchObject({
      result: 'kept in the pocket',
      attempts: [{ attempt: 1 }],
    });
    again.send({ type: 'ping' });
    await again.next('pong');
    await expect(Promise.race([again.next('tool_call_request'), Promise.resolve('none')])).resolves.toBe(
      'none',
    );
  });

  it('gets calls that never reached it again, and cancels for calls that have ended', async () => {
    const server = await aServer();
    const phone = await connected(server);
    const welcome = await hello(phone);
    await phone.register(DEVICE_INFO);
    const lost = await callId(server, 'device_info');
    const over = await callId(server, 'device_info');
    const requests = [await phone.next('tool_call_request'), await phone.next('tool_call_request')];
    const [first, second] = requests.map((request) => String(request['id']));
    phone.socket.terminate();
    await untilDevice(server, String(welcome['session']), 'away');
    await server.ask({ method: 'POST', path: `/v1/tool_calls/${over}/cancel`, body: {} });
    const again = await connected(server);
    await hello(again, { resume: welcome['resume_token'], holding: [second] });
    expect(await again.next('cancel')).toMatchObject({ id: second });
    expect(await again.next('tool_call_request')).toMatchObject({ id: first, attempt: 1 });
    again.send({ type: 'tool_result', id: first, output: 'now' });
    expect((await ended(server, lost)).result).toBe('now');
  });

  it('replaces a dead connection that still looks open', async () => {
    const server = await aServer();
    const phone = await connected(server);
    const welcome = await hello(phone);
    await phone.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await phone.next('tool_call_request');
    const again = await connected(server);
    expect(await hello(again, { resume: welcome['resume_token'] })).toMatchObject({ resumed: true });
    expect(await phone.closed).toMatchObject({ code: 4001 });
    expect(await again.register(DEVICE_INFO)).toMatchObject({ registered: 1 });
    again.send({ type: 'tool_result', id: request['id'], output: 'moved' });
    expect((await ended(server, id)).result).toBe('moved');
    expect(await toolNames(server)).toEqual(['device_info']);
  });

  it('resumes its calls, although a connection that it never saw took them over', async () => {
    const server = await aServer(limits({ device_grace_ms: 300 }));
    const phone = await connected(server);
    const welcome = await hello(phone);
    await phone.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await phone.next('tool_call_request');
    const resume = { resume: welcome['resume_token'], holding: [request['id']] };
    // Its welcome is lost on the way, so the device gives it up and comes again with the token it has.
    const halfway = await connected(server);
    expect(await hello(halfway, resume)).toMatchObject({ resumed: true });
    const again = await connected(server);
    const back = await hello(again, resume);
    expect(back).toMatchObject({ resumed: false });
    halfway.socket.terminate();
    await waitFor(async () => expect(await deviceStates(server)).toHaveLength(1));
    expect((await deviceStates(server))[0]).toMatchObject({ session: back['session'], open_calls: 1 });
    again.send({ type: 'tool_result', id: request['id'], output: 'held all along' });
    expect(await again.next('result_acknowledged')).toMatchObject({ accepted: true });
    expect((await ended(server, id)).result).toBe('held all along');
  });

  it('needs its own token, and the token works once', async () => {
    const server = await aServer();
    const phone = await connected(server);
    const welcome = await hello(phone);
    const thief = await connected(server);
    expect(await hello(thief, { client_id: 'thief', resume: welcome['resume_token'] })).toMatchObject({
      resumed: false,
    });
    const guess = await connected(server);
    expect(await hello(guess, { resume: 'guessed' })).toMatchObject({ resumed: false });
    const again = await connected(server);
    expect(await hello(again, { resume: welcome['resume_token'] })).toMatchObject({ resumed: true });
    const twice = await connected(server);
    expect(await hello(twice, { resume: welcome['resume_token'] })).toMatchObject({ resumed: false });
  });
});

describe('a device that does not come back', () => {
  it('has its calls failed after the grace period', async () => {
    const server = await aServer(limits({ device_grace_ms: 200 }));
    const phone = await connected(server);
    const welcome = await hello(phone);
    await phone.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await phone.next('tool_call_request');
    phone.socket.terminate();
    expect(await ended(server, id)).toMatchObject({
      error: { code: 'provider_disconnected', outcome: 'unknown' },
    });
    const late = await connected(server);
    expect(await hello(late, { resume: welcome['resume_token'] })).toMatchObject({ resumed: false });
    late.send({ type: 'tool_result', id: request['id'], output: 'too late' });
    expect(await late.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'late' });
  });

  it('fails its calls at once when it closes with 1000', async () => {
    const server = await aServer();
    const phone = await connected(server);
    await hello(phone);
    await phone.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    await phone.next('tool_call_request');
    await phone.close(1000);
    expect((await ended(server, id)).error?.code).toBe('provider_disconnected');
  });

  it('is replaced by another one if the tool is idempotent, and its result is rejected', async () => {
    const server = await aServer(limits({ device_grace_ms: 100 }));
    const tool = { ...DEVICE_INFO, annotations: { idempotent: true } };
    const first = await connected(server);
    await hello(first, { name: 'first' });
    await first.register(tool);
    const id = await callId(server, 'device_info');
    const stale = await first.next('tool_call_request');
    const second = await connected(server);
    await hello(second, { name: 'second' });
    await second.register(tool);
    first.socket.terminate();
    const request = await second.next('tool_call_request');
    expect(request).toMatchObject({ attempt: 2 });
    expect(request['id']).not.toBe(stale['id']);
    const back = await connected(server);
    await hello(back, { name: 'first', holding: [stale['id']] });
    expect(await back.next('cancel')).toMatchObject({ id: stale['id'] });
    back.send({ type: 'tool_result', id: stale['id'], output: 'of the first attempt' });
    expect(await back.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'late' });
    second.send({ type: 'tool_result', id: request['id'], output: 'of the second' });
    expect(await ended(server, id)).toMatchObject({
      result: 'of the second',
      attempts: [
        { attempt: 1, device: 'first', code: 'provider_disconnected' },
        { attempt: 2, device: 'second' },
      ],
    });
  });

  it('is not replaced if the call has a target, or if the tool is not idempotent', async () => {
    const server = await aServer();
    const kept = { ...DEVICE_INFO, name: 'again', annotations: { idempotent: true } };
    const first = await connected(server, { headers: { 'x-client-id': 'phones' } });
    await first.register(DEVICE_INFO, kept);
    const second = await connected(server);
    await hello(second, { name: 'second' });
    const plain = await callId(server, 'device_info');
    await first.next('tool_call_request');
    await second.register(DEVICE_INFO, kept);
    const [device] = (await deviceStates(server)).filter(({ name }) => name !== 'second');
    const targeted = await callId(server, 'again', { target: device!.session });
    await first.next('tool_call_request');
    first.socket.terminate();
    for (const id of [plain, targeted]) {
      expect((await ended(server, id)).error).toMatchObject({
        code: 'provider_disconnected',
        outcome: 'unknown',
      });
    }
  });
});

describe('a server that restarts', () => {
  it('accepts the result of a running call, from its own client only', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const server = await aPlatform({ folder });
    const phone = await connected(server);
    await hello(phone);
    await phone.register(DEVICE_INFO);
    const id = await callId(server, 'device_info');
    const request = await phone.next('tool_call_request');
    await server.close();
    expect(await phone.closed).toMatchObject({ code: 1001 });
    const next = await aServer({ folder });
    expect(await toolNames(next)).toEqual([]);
    const stranger = await connected(next);
    await hello(stranger, { client_id: 'stranger' });
    stranger.send({ type: 'tool_result', id: request['id'], output: 'forged' });
    expect(await stranger.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'unknown' });
    const again = await connected(next);
    await hello(again, { holding: [request['id']] });
    again.send({ type: 'tool_result', id: request['id'], output: 'across' });
    expect(await again.next('result_acknowledged')).toMatchObject({ accepted: true });
    expect((await ended(next, id)).result).toBe('across');
  });

  it('fails the calls of a device that does not reconnect', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const server = await aPlatform({ folder });
    const phone = await connected(server);
    await phone.register({ ...DEVICE_INFO, timeout_ms: 3_600_000 });
    const id = await callId(server, 'device_info');
    await phone.next('tool_call_request');
    await server.close();
    const next = await aServer({ folder, ...limits({ device_grace_ms: 50 }) });
    expect((await ended(next, id)).error).toMatchObject({
      code: 'provider_disconnected',
      outcome: 'unknown',
    });
  });
});
