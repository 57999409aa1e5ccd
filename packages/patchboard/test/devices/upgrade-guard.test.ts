import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { aPlatform, recordOf, type MintedKey, type TestPlatform } from '../guard/support/a-platform.ts';
import { callId, toolNames } from './support/agent.ts';
import { aDevice, DEVICE_INFO, type BareDevice } from './support/bare-device.ts';
import { waitFor } from '../support/wait-for.ts';

let server: TestPlatform;
let phone: MintedKey;
let agent: MintedKey;
const open = new Set<BareDevice>();

beforeAll(async () => {
  server = await aPlatform({ config: { http: { allowed_origins: ['https://app.example'] } } });
  phone = await server.mint({ kind: 'client', name: 'phone-1' });
  agent = await server.mint({ kind: 'agent', name: 'agent-a' });
});
afterEach(() => {
  for (const device of open) device.socket.terminate();
  open.clear();
});
afterAll(async () => {
  await server.close();
});

async function connected(options: Parameters<typeof aDevice>[1]): Promise<BareDevice> {
  const device = await aDevice(server.port, options);
  open.add(device);
  return device;
}

/** The status with which an upgrade was refused. */
async function refused(path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers });
  return await new Promise<number>((resolve, reject) => {
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.on('error', () => undefined);
      socket.terminate();
    });
    socket.once('open', () => reject(new Error('the upgrade was granted')));
    socket.once('error', reject);
  });
}

async function ticketOf(key: MintedKey, body: unknown = {}): Promise<string> {
  const response = await server.ask({ method: 'POST', path: '/v1/tickets', headers: key.headers, body });
  expect(response.status).toBe(201);
  return (response.json as { ticket: string }).ticket;
}

describe('before the upgrade', () => {
  it('a credential with the right scope is required, and a refused request leaves nothing behind', async () => {
    const before = await recordOf(server.store);
    expect(await refused('/ws', {})).toBe(401);
    expect(await refused('/ws', { authorization: 'Bearer pb_wrong' })).toBe(401);
    expect(await refused('/ws', agent.headers)).toBe(403);
    expect(await refused('/ws?ticket=dt_wrong', {})).toBe(401);
    expect(await refused('/ws', { ...phone.headers, 'x-client-id': 'phone-2' })).toBe(403);
    expect(await recordOf(server.store)).toEqual(before);
  });

  it('a key in the address is not taken', async () => {
    expect(await refused(`/ws?key=${phone.secret}`, {})).toBe(401);
    expect(await refused(`/ws?ticket=${phone.secret}`, {})).toBe(401);
  });

  it('a foreign page is refused, also with a credential', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
      expect(await refused('/ws', { ...phone.headers, origin })).toBe(403);
    }
    expect(await refused('/ws', { ...phone.headers, host: 'evil.example' })).toBe(421);
    const allowed = await connected({ headers: { ...phone.headers, origin: 'https://app.example' } });
    expect(await allowed.register(DEVICE_INFO)).toMatchObject({ registered: 1 });
  });

  it('a plain request gets 400 with Upgrade: websocket', async () => {
    const response = await server.ask({ method: 'GET', path: '/ws', headers: phone.headers });
    expect(response).toMatchObject({ status: 400, json: { code: 'body_invalid' } });
    expect(response.headers['upgrade']).toBe('websocket');
  });
});

describe('a ticket', () => {
  it('opens one socket, once, for the principal that requested it', async () => {
    const path = `/ws?ticket=${await ticketOf(phone)}`;
    const device = await connected({ path });
    device.send({ type: 'hello', client_id: 'phone-1' });
    expect(await device.next('welcome')).toMatchObject({ client_id: 'phone-1' });
    expect(await refused(path, {})).toBe(401);
  });

  it('is for its own principal, and requires the scope', async () => {
    const other = { client_id: 'phone-2' };
    const ask = { method: 'POST', path: '/v1/tickets', body: other };
    expect((await server.ask({ ...ask, headers: phone.headers })).status).toBe(403);
    expect((await server.ask({ ...ask, headers: agent.headers })).status).toBe(403);
    const made = (await server.asOperator('POST', '/v1/tickets', other)).json as { ticket: string };
    const device = await connected({ path: `/ws?ticket=${made.ticket}` });
    device.send({ type: 'hello', client_id: 'phone-3' });
    expect(await device.next('error')).toMatchObject({ code: 'permission_denied' });
    device.send({ type: 'hello' });
    expect(await device.next('welcome')).toMatchObject({ client_id: 'phone-2' });
  });

  it('is invalid once its key is revoked', async () => {
    const key = await server.mint({ kind: 'client', name: 'phone-4' });
    const ticket = await ticketOf(key);
    await server.asOperator('DELETE', `/v1/keys/${key.id}`);
    expect(await refused(`/ws?ticket=${ticket}`, {})).toBe(401);
  });
});

describe('an open socket', () => {
  it('acts for the client of its credential only', async () => {
    const device = await connected({ headers: phone.headers });
    device.send({ type: 'hello', client_id: 'somebody-else' });
    expect(await device.next('error')).toMatchObject({ code: 'permission_denied' });
    await device.register(DEVICE_INFO);
    const other = await server.mint({ kind: 'client', name: 'phone-9' });
    const stranger = await connected({ headers: other.headers });
    expect(await stranger.register(DEVICE_INFO)).toMatchObject({
      registered: 0,
      rejected: [{ name: 'device_info', code: 'name_taken' }],
    });
    const id = await callId(server, 'device_info', { headers: agent.headers });
    const request = await device.next('tool_call_request');
    // The id was overheard; the client is still another one.
    stranger.send({ type: 'tool_result', id: request['id'], output: 'forged' });
    expect(await stranger.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'unknown' });
    device.send({ type: 'tool_result', id: request['id'], output: 'true' });
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: true });
    const call = await server.ask({ method: 'GET', path: `/v1/tool_calls/${id}`, headers: agent.headers });
    expect(call.json).toMatchObject({ result: 'true' });
  });

  it('gives no result any more once its key is revoked, although it has not noticed', async () => {
    const key = await server.mint({ kind: 'client', name: 'phone-6' });
    const device = await connected({ headers: key.headers });
    device.send({ type: 'hello', protocol: 1, client_id: 'phone-6' });
    await device.next('welcome');
    await device.register({ ...DEVICE_INFO, name: 'cut.off' });
    const id = await callId(server, 'cut.off', { headers: agent.headers });
    const request = await device.next('tool_call_request');
    device.socket.pause();
    expect((await server.asOperator('DELETE', `/v1/keys/${key.id}`)).status).toBe(200);
    device.send({ type: 'tool_result', id: request['id'], output: 'too late' });
    device.socket.resume();
    expect((await device.closed).code).toBe(4003);
    const path = `/v1/tool_calls/${id}/cancel`;
    const cancelled = await server.ask({ method: 'POST', path, headers: agent.headers, body: {} });
    expect(cancelled).toMatchObject({ status: 200, json: { error: { code: 'cancelled' } } });
  });

  it('is closed when its key is revoked, and its tools go', async () => {
    const key = await server.mint({ kind: 'client', name: 'phone-5' });
    const device = await connected({ headers: key.headers });
    await device.register({ ...DEVICE_INFO, name: 'short.lived' });
    await server.asOperator('DELETE', `/v1/keys/${key.id}`);
    expect(await device.closed).toMatchObject({ code: 4003, reason: 'the credential is no longer valid' });
    await waitFor(async () => {
      expect(await toolNames(server, '/v1/tools', agent.headers)).not.toContain('short.lived');
    });
  });
});
