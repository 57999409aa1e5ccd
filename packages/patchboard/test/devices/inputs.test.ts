import { connectDevice, createClient, deviceTool, type DeviceOptions } from '@patchboard/client';
import type { CallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { aDroppingProxy } from '../../../../scripts/chaos/dropping-proxy.ts';
import { aDataFolder, aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { callId, ended } from './support/agent.ts';
import { aDevice, type BareDevice, type Frame } from './support/bare-device.ts';

const closeLater = closedAfterEach();
const QUICK = { openTimeoutMs: 500, retry: { baseDelayMs: 20, maxDelayMs: 200 } };
const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;
const PHOTO = { name: 'photo', parameters: { type: 'object' }, timeout_ms: 20_000 };

async function aServer(given: Parameters<typeof aPlatform>[0] = {}): Promise<TestPlatform> {
  // The proxy has a port of its own.
  const server = await aPlatform({ ...given, config: { http: { allowed_hosts: ['127.0.0.1'] } } });
  closeLater(() => server.close());
  return server;
}

async function connected(server: TestPlatform, hello: object = {}): Promise<BareDevice> {
  const device = await aDevice(server.port);
  closeLater(() => device.socket.terminate());
  device.send({ type: 'hello', protocol: 1, client_id: 'phones', ...hello });
  return device;
}

/** A device that has received a call of its tool. */
async function working(server: TestPlatform, headers: Record<string, string> = {}) {
  const device = await connected(server);
  const { resume_token: resume } = await device.next('welcome');
  await device.register(PHOTO);
  const callIdentity = await callId(server, 'photo', { headers });
  const request = await device.next('tool_call_request');
  return { device, resume, call: callIdentity, id: String(request['id']), request };
}

/** Waits until the call waits for input. */
async function asked(server: TestPlatform, id: string): Promise<CallView> {
  let call: CallView | undefined;
  await waitFor(async () => {
    call = (await server.ask({ method: 'GET', path: `/v1/tool_calls/${id}` })).json as CallView;
    expect(call.input_request).toBeDefined();
  });
  return call!;
}

async function respond(server: TestPlatform, id: string, body: object): Promise<void> {
  const { status, text } = await server.ask({ method: 'POST', path: `/v1/tool_calls/${id}/input`, body });
  expect(status, text).toBe(200);
}

/** A promise that the test resolves. */
function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, resolve: (value) => settle(value) };
}

describe('the frames', () => {
  it('ask the caller, and bring the response with a new deadline', async () => {
    const server = await aServer();
    const { device, call, id, request } = await working(server);
    device.send({ type: 'input_request', id, key: 'city', ...CITY });
    expect(await asked(server, call)).toMatchObject({
      status: 'RUNNING',
      state: 'INPUT_REQUIRED',
      input_request: { id: 'in_1', ...CITY },
    });
    // Sent again, it is the same request.
    device.send({ type: 'input_request', id, key: 'city', ...CITY });
    await respond(server, call, { id: 'in_1', content: { city: 'Paris' } });
    const response = await device.next('input_response');
    expect(response).toMatchObject({
      id,
      key: 'city',
      input_request_id: 'in_1',
      action: 'accept',
      content: { city: 'Paris' },
    });
    expect(Date.parse(String(response['deadline_at']))).toBeGreaterThan(
      Date.parse(String(request['deadline_at'])),
    );
    device.send({ type: 'input_request', id, key: 'link', message: 'Sign in', url: 'https://example.test/' });
    expect((await asked(server, call)).inputs).toHaveLength(2);
    await respond(server, call, { id: 'in_2', action: 'decline' });
    const declined = await device.next('input_response');
    expect(declined).toMatchObject({ key: 'link', action: 'decline' });
    expect(declined).not.toHaveProperty('content');
    device.send({ type: 'tool_error', id, error: 'not signed in', code: 'input_declined' });
    expect((await ended(server, call)).error).toMatchObject({
      code: 'input_declined',
      message: 'not signed in',
    });
  });

  it('say why the caller is not asked, and the device goes on', async () => {
    const server = await aServer();
    const { device, call, id } = await working(server, { prefer: 'input=none' });
    const refusal = async (frame: object): Promise<Frame> => {
      device.send({ type: 'input_request', id, key: 'a', message: 'x', ...frame });
      return await device.next('input_refused');
    };
    expect(await refusal({})).toMatchObject({ id, key: 'a', failure_code: 'input_unavailable' });
    expect(await refusal({ id: `${call}:1.stale` })).toMatchObject({ failure_code: 'conflict' });
    expect(await refusal({ id: 'nonsense' })).toMatchObject({ failure_code: 'call_not_found' });
    device.send({ type: 'input_request', id, key: 'not a key', message: 'x' });
    expect(await device.next('error')).toMatchObject({ id, failure_code: 'body_invalid' });
    device.send({ type: 'tool_result', id, output: 1 });
    expect((await ended(server, call)).result).toBe(1);
    expect(await refusal({})).toMatchObject({ failure_code: 'conflict' });
  });

  it('bring the response after a reconnect, and a second device never gets it', async () => {
    const server = await aServer();
    const { device, resume, call, id } = await working(server);
    const other = await connected(server, { name: 'other' });
    await other.register(PHOTO);
    const seen: string[] = [];
    other.socket.on('message', (data) => seen.push((JSON.parse((data as Buffer).toString()) as Frame).type));
    device.send({ type: 'input_request', id, key: 'city', ...CITY });
    await asked(server, call);
    device.socket.terminate();
    await respond(server, call, { id: 'in_1', content: { city: 'Paris' } });
    const back = await connected(server, { resume, holding: [id] });
    expect(await back.next('input_response')).toMatchObject({ id, key: 'city', content: { city: 'Paris' } });
    back.send({ type: 'input_request', id, key: 'city', ...CITY });
    expect(await back.next('input_response')).toMatchObject({ input_request_id: 'in_1' });
    back.send({ type: 'tool_result', id, output: 'done' });
    expect(await ended(server, call)).toMatchObject({ result: 'done', attempts: [{ attempt: 1 }] });
    expect(seen).toEqual([]);
  });

  it('are not sent to a device that never asks', async () => {
    const server = await aServer();
    const device = await aDevice(server.port);
    closeLater(() => device.socket.terminate());
    const seen: string[] = [];
    device.socket.on('message', (data) => seen.push((JSON.parse((data as Buffer).toString()) as Frame).type));
    await device.register(PHOTO);
    const call = await callId(server, 'photo');
    const { id } = await device.next('tool_call_request');
    device.send({ type: 'tool_error', id, error: 'broken', code: 'E_LENS' });
    expect((await ended(server, call)).error).toMatchObject({ code: 'tool_failed', message: 'broken' });
    await device.next('result_acknowledged');
    expect(seen).toEqual(['tools_registered', 'tool_call_request', 'result_acknowledged']);
  });
});

describe('context.requestInput of a device of the SDK', () => {
  const asking = (deadlines: (Date | null)[] = []) =>
    deviceTool({
      name: 'photo',
      timeoutMs: 20_000,
      run: async (_args, call) => {
        deadlines.push(call.deadlineAt);
        const content = await call.requestInput(CITY);
        deadlines.push(call.deadlineAt);
        return { said: content };
      },
    });

  async function online(url: string, options: DeviceOptions): Promise<void> {
    const device = connectDevice(url, { ...QUICK, ...options });
    closeLater(() => device.close());
    await device.ready;
  }

  it('resolves with what the caller responds, and moves the deadline', async () => {
    const server = await aServer();
    const url = `http://127.0.0.1:${server.port}`;
    const deadlines: (Date | null)[] = [];
    await online(url, { tools: [asking(deadlines)] });
    const client = createClient({ url });
    const { result } = await client.call('photo', {}, { onInputRequest: () => ({ city: 'Oslo' }) });
    expect(result).toEqual({ said: { city: 'Oslo' } });
    expect(Number(deadlines[1])).toBeGreaterThan(Number(deadlines[0]));
    const silent = await client.call('photo', {}, { throwOnFailure: false });
    expect(silent.error).toMatchObject({ code: 'input_unavailable' });
  });

  it('rejects when the caller declines, the request is invalid, and the call is cancelled', async () => {
    const server = await aServer();
    const errors: unknown[] = [];
    const cancelled = deferred<unknown>();
    await online(`http://127.0.0.1:${server.port}`, {
      tools: [
        deviceTool({
          name: 'photo',
          run: async (_args, { requestInput }) => {
            for (const request of [{ message: '' }, { message: 'x', schema: { type: 'nonsense' } }])
              await requestInput(request).catch((error: unknown) => errors.push(error));
            // Two at once are asked one after the other.
            const [first, second] = [requestInput(CITY), requestInput(CITY)];
            await first.catch((error: unknown) => errors.push(error));
            await second.catch((error: unknown) => cancelled.resolve(error));
          },
        }),
      ],
    });
    const id = await callId(server, 'photo');
    await asked(server, id);
    await respond(server, id, { id: 'in_1', action: 'decline' });
    expect((await asked(server, id)).input_request).toMatchObject({ id: 'in_2' });
    await server.ask({ method: 'POST', path: `/v1/tool_calls/${id}/cancel`, body: {} });
    expect(await cancelled.promise).toMatchObject({ message: 'cancelled' });
    expect(errors).toMatchObject([
      { name: 'TypeError' },
      { code: 'body_invalid' },
      { code: 'input_declined', kind: 'input' },
    ]);
  });

  it('gets a response that came while the connection was cut, and asks once', async () => {
    const server = await aServer();
    const proxy = await aDroppingProxy(() => server.port);
    closeLater(() => proxy.close());
    await online(proxy.url, { tools: [asking()] });
    const id = await callId(server, 'photo');
    await asked(server, id);
    proxy.cut();
    await respond(server, id, { id: 'in_1', content: { city: 'Rome' } });
    expect(await ended(server, id)).toMatchObject({
      result: { said: { city: 'Rome' } },
      inputs: [{ id: 'in_1' }],
      attempts: [{ attempt: 1 }],
    });
  });

  it('asks when the connection is back, if the request was lost on the way', async () => {
    const server = await aServer();
    const proxy = await aDroppingProxy(() => server.port);
    closeLater(() => proxy.close());
    const tool = asking();
    const begun = deferred<void>();
    const run = (...given: Parameters<typeof tool.run>): unknown => {
      proxy.drop('both');
      begun.resolve();
      return tool.run(...given);
    };
    await online(proxy.url, { tools: [{ ...tool, run }] });
    const id = await callId(server, 'photo');
    await begun.promise;
    proxy.cut();
    proxy.restore();
    await asked(server, id);
    await respond(server, id, { id: 'in_1', content: { city: 'Lima' } });
    expect(await ended(server, id)).toMatchObject({ result: { said: { city: 'Lima' } } });
  });

  it('goes on after a restart of the server, with a response from before or after the return', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const server = await aPlatform({ folder });
    const port = { current: server.port };
    const device = connectDevice(`http://127.0.0.1:${server.port}`, {
      ...QUICK,
      concurrency: 2,
      socket: (url) => new WebSocket(url.replace(/:\d+\//, `:${port.current}/`)) as never,
      tools: [asking()],
    });
    closeLater(() => device.close());
    await device.ready;
    const ids = [await callId(server, 'photo'), await callId(server, 'photo')] as const;
    for (const id of ids) await asked(server, id);
    await server.close();
    const next = await aServer({ folder });
    const [before, after] = ids;
    await respond(next, before, { id: 'in_1', content: { city: 'before' } });
    port.current = next.port;
    expect((await ended(next, before)).result).toEqual({ said: { city: 'before' } });
    await respond(next, after, { id: 'in_1', content: { city: 'after' } });
    expect(await ended(next, after)).toMatchObject({
      result: { said: { city: 'after' } },
      inputs: [{ id: 'in_1' }],
    });
  });
});
