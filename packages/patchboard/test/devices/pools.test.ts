import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { callId, ended, invoke, toolNames } from './support/agent.ts';
import { aDevice, CAMERA, DEVICE_INFO, type BareDevice } from './support/bare-device.ts';
import { waitFor } from '../support/wait-for.ts';

let server: TestPlatform;
const open: BareDevice[] = [];

beforeEach(async () => {
  server = await aPlatform({ config: { devices: { registerable: ['device_info', 'camera', 'lent.*'] } } });
});
afterEach(async () => {
  for (const device of open.splice(0)) device.socket.terminate();
  await server.close();
});

async function named(name: string, ...tools: readonly unknown[]): Promise<BareDevice> {
  const device = await aDevice(server.port);
  open.push(device);
  device.send({ type: 'hello', client_id: 'phones', name });
  await device.next('welcome');
  await device.register(...tools);
  return device;
}

/** Returns its own name, so that a call shows which device ran it. */
function returnsItsName(device: BareDevice, name: string): void {
  device.socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString()) as { type: string; id: string };
    if (frame.type === 'tool_call_request') device.send({ type: 'tool_result', id: frame.id, output: name });
  });
}

async function runBy(asked: Parameters<typeof callId>[2]): Promise<unknown> {
  return (await ended(server, await callId(server, 'device_info', asked))).result;
}

describe('devices of one client that offer the same tool', () => {
  it('are one tool, and a call goes to its target, else where its run went before, else to the least busy', async () => {
    const devices = new Map<string, BareDevice>();
    for (const name of ['a', 'b', 'c']) devices.set(name, await named(name, DEVICE_INFO));
    expect(await toolNames(server)).toEqual(['device_info']);
    for (const [name, device] of devices) returnsItsName(device, name);
    for (const target of ['b', 'c', 'a', 'b'])
      expect(await runBy({ target, run: 'run_targets' })).toBe(target);
    const first = await runBy({ run: 'run_sticky' });
    for (let round = 0; round < 5; round += 1) expect(await runBy({ run: 'run_sticky' })).toBe(first);
    const spread = new Set<unknown>();
    for (const run of ['run_1', 'run_2', 'run_3']) spread.add(await runBy({ run }));
    expect(spread).toEqual(new Set(['a', 'b', 'c']));
  });

  it('the busy ones are passed over', async () => {
    const busy = await named('busy', DEVICE_INFO);
    const waiting = await callId(server, 'device_info', { run: 'run_long', target: 'busy' });
    const request = await busy.next('tool_call_request');
    const free = await named('free', DEVICE_INFO);
    returnsItsName(free, 'free');
    for (const run of ['run_1', 'run_2', 'run_3', 'run_4']) expect(await runBy({ run })).toBe('free');
    busy.send({ type: 'tool_result', id: request['id'], output: 'busy' });
    expect((await ended(server, waiting)).result).toBe('busy');
  });

  it('a target that is not there, or not a device, is refused', async () => {
    await named('a', DEVICE_INFO);
    expect(await invoke(server, 'device_info', { target: 'nobody' })).toMatchObject({
      status: 503,
      json: { code: 'provider_offline' },
    });
    expect((await invoke(server, 'calculation.eval', { target: 'a' })).status).toBe(400);
  });

  it('share one contract: another is refused while others hold the old one', async () => {
    const a = await named('a', DEVICE_INFO);
    const b = await named('b', DEVICE_INFO);
    const changed = { ...DEVICE_INFO, description: 'and sends it to me' };
    expect(await b.register(changed)).toMatchObject({
      registered: 1,
      rejected: [{ code: 'name_taken', reason: expect.stringContaining('another contract') as unknown }],
    });
    await a.close();
    await waitFor(async () => expect(await b.register(changed)).toMatchObject({ registered: 1 }));
  });

  it('names that policy does not let devices register are refused', async () => {
    const a = await named('a');
    expect(
      await a.register({ ...CAMERA, name: 'microphone' }, { ...CAMERA, name: 'lent.camera' }),
    ).toMatchObject({
      count: 2,
      registered: 1,
      rejected: [{ name: 'microphone', code: 'permission_denied' }],
    });
    a.send({ type: 'get_registered_tools' });
    expect(await a.next('registered_tools')).toMatchObject({ tools: [{ name: 'lent.camera' }] });
    a.send({ type: 'unregister_tools', tools: ['lent.camera', 'never.there'] });
    expect(await a.next('tools_unregistered')).toMatchObject({ removed: ['lent.camera'] });
    expect(await toolNames(server)).toEqual([]);
  });
});

describe('a name that two clients want at the same time', () => {
  it('goes to one of them, every time', async () => {
    for (let round = 0; round < 20; round += 1) {
      const tool = { ...CAMERA, name: `lent.${round}` };
      const rivals = await Promise.all(
        ['first', 'second'].map(async (clientId) => {
          const device = await aDevice(server.port, { headers: { 'x-client-id': clientId } });
          open.push(device);
          return device;
        }),
      );
      const responses = await Promise.all(rivals.map((device) => device.register(tool)));
      expect(responses.reduce((sum, { registered }) => sum + Number(registered), 0)).toBe(1);
      expect(responses.flatMap(({ rejected }) => rejected)).toMatchObject([{ code: 'name_taken' }]);
    }
  });
});

describe('a contract that changes', () => {
  it('is reported as changed, has another version, and a grant for the old one is not valid', async () => {
    const risky = { ...CAMERA, annotations: { requires_approval: true } };
    const phone = await named('a', risky);
    const id = await callId(server, 'camera');
    const waiting = await server.asOperator('GET', `/v1/tool_calls/${id}`);
    const { digest } = (waiting.json as { approval: { digest: string } }).approval;
    const grant = { scope: 'tool', lifetime_s: 3600 };
    const decision = { decision: 'allow', digest, grant };
    await server.asOperator('POST', `/v1/tool_calls/${id}/decision`, decision);
    const request = await phone.next('tool_call_request');
    phone.send({ type: 'tool_result', id: request['id'], output: 'picture' });
    await ended(server, id);
    const granted = await callId(server, 'camera');
    const second = await phone.next('tool_call_request');
    phone.send({ type: 'tool_result', id: second['id'], output: 'picture' });
    expect((await ended(server, granted)).decision.rule).toMatch(/^grant:/);
    await phone.close();
    await waitFor(async () => expect(await toolNames(server)).toEqual([]));
    await named('a', { ...risky, description: 'now with flash' });
    const rows = await server.store.readLedger({ kinds: ['registry.changed'] }, 0, 100);
    expect(JSON.parse(rows.at(-1)!.row.body)).toMatchObject({ registered: ['camera'], changed: ['camera'] });
    const asksAgain = await callId(server, 'camera');
    const call = await server.ask({ method: 'GET', path: `/v1/tool_calls/${asksAgain}` });
    expect(call.json).toMatchObject({ state: 'APPROVAL_REQUIRED' });
  });

  it('keeps its risk when it is registered again without it', async () => {
    const phone = await named('a', { ...CAMERA, annotations: { requires_approval: true } });
    await phone.close();
    await waitFor(async () => expect(await toolNames(server)).toEqual([]));
    await named('a', CAMERA);
    const id = await callId(server, 'camera');
    const call = await server.ask({ method: 'GET', path: `/v1/tool_calls/${id}` });
    expect(call.json).toMatchObject({ state: 'APPROVAL_REQUIRED' });
  });
});

describe('a client that changes between HTTP and a socket', () => {
  const spec = { name: 'lent.print', schema: { type: 'object' } };
  const register = {
    method: 'POST',
    path: '/internal/tools/register',
    body: { client_id: 'phones', tools: [spec] },
  };

  it('is sent over the socket what waited, and may submit over HTTP', async () => {
    await server.ask(register);
    const id = await callId(server, 'lent.print');
    const phone = await named('a', { name: 'lent.print', parameters: { type: 'object' } });
    const request = await phone.next('tool_call_request');
    const [call, token] = String(request['id']).split(':');
    expect(call).toBe(id);
    const submit = { status: 'SUCCEEDED', result: 'by HTTP', attempt_token: token };
    const path = `/internal/tool_calls/${id}/submit`;
    expect((await server.ask({ method: 'POST', path, body: submit })).json).toMatchObject({ ok: true });
    phone.send({ type: 'tool_result', id: request['id'], output: 'by HTTP' });
    expect(await phone.next('result_acknowledged')).toMatchObject({ accepted: true, duplicate: true });
    await phone.close();
    await waitFor(async () => {
      const { json } = await server.ask({ method: 'GET', path: '/v1/tools/lent.print' });
      expect(json).toMatchObject({ provider: { online: false } });
    });
    const next = await callId(server, 'lent.print');
    const poll = await server.ask({ method: 'GET', path: '/internal/clients/phones/requests?wait=10' });
    expect(poll.json).toMatchObject({ requests: [{ tool_call_id: next }] });
  });

  it('a tool that was registered over HTTP stays when the socket goes, and goes for all when it is taken back', async () => {
    await server.ask(register);
    const phone = await named('a', { name: 'lent.print', parameters: { type: 'object' } });
    await server.ask({ method: 'DELETE', path: '/internal/clients/phones/tools/lent.print' });
    expect(await toolNames(server)).toEqual([]);
    phone.send({ type: 'get_registered_tools' });
    expect(await phone.next('registered_tools')).toMatchObject({ tools: [] });
  });
});
