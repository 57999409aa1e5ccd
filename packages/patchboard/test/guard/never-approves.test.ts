import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVICE_FRAMES, GATEWAY_FRAMES } from '../../src/transports/device-gateway/frames.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { callId } from '../devices/support/agent.ts';
import { aDevice, type BareDevice } from '../devices/support/bare-device.ts';
import { aPlatform, type TestPlatform } from './support/a-platform.ts';
import { ledgerOf, waiting, type Waiting } from './support/asking.ts';
import { requestTo, UNKNOWN } from './support/route-samples.ts';

// Over MCP: test/mcp/never-approves.test.ts.
const CLIENT = 'doors';
const TOOL = 'door.open';
const DOOR = { name: TOOL, description: 'Opens a door.', annotations: { destructive: true } };
const SCHEMA = { type: 'object', properties: {} };

let server: TestPlatform;
beforeAll(async () => {
  server = await aPlatform();
});
afterAll(() => server.close());

/** Members that could be taken for an approval. */
const yes = ({ id, digest }: Pick<Waiting, 'id' | 'digest'>): Record<string, unknown> => ({
  tool_call_id: id,
  decision: 'allow',
  digest,
  approved: true,
  approval: { decision: 'allow', digest },
  action: 'accept',
});

async function expectNotApproved({ id }: Waiting): Promise<void> {
  const { json } = await server.asOperator('GET', `/v1/tool_calls/${id}`);
  const { state, approval } = json as { state: string; approval: { decision?: string | null } };
  expect(['APPROVAL_REQUIRED', 'CANCELLED']).toContain(state);
  expect(approval.decision ?? null).toBeNull();
  expect((await ledgerOf(server, id)).map(({ kind }) => kind)).not.toContain('permission_decided');
}

describe('a device cannot approve a call of its own tool', () => {
  async function aWaitingCall(): Promise<{ device: BareDevice; call: Waiting }> {
    const device = await aDevice(server.port);
    device.send({ type: 'hello', protocol: 1, client_id: CLIENT });
    await device.next('welcome');
    await device.register({ ...DOOR, parameters: SCHEMA });
    return { device, call: await waiting(server, await callId(server, TOOL)) };
  }

  /** Resolves when the server has read every frame before, or has closed the connection. */
  async function read(device: BareDevice): Promise<void> {
    device.send({ type: 'ping' });
    await Promise.race([device.next('pong').catch(() => undefined), device.closed]);
  }

  const types = new Set([...DEVICE_FRAMES.keys(), ...GATEWAY_FRAMES.keys(), 'approve', 'decision']);
  it.each([...types])('with the frame %s', async (type) => {
    const { device, call } = await aWaitingCall();
    const members = {
      protocol: 1,
      client_id: CLIENT,
      tools: [],
      key: 'approval',
      message: 'allow?',
      url: '/',
    };
    device.send({
      type,
      ...members,
      ...yes(call),
      id: call.id,
      success: true,
      output: yes(call),
      data: yes(call),
    });
    device.send({ type, ...yes(call), id: call.id });
    await read(device);
    await expectNotApproved(call);
    await device.close();
  });

  it('and runs it once an operator has', async () => {
    const { device, call } = await aWaitingCall();
    expect((await call.decide({ decision: 'allow' })).status).toBe(200);
    expect(await device.next('tool_call_request')).toMatchObject({ name: TOOL });
    await device.close();
  });
});

describe.each(['the caller', 'an operator'])('%s cannot approve a call', (who) => {
  const changing = ROUTES.filter(
    ({ api, method }) => api !== 'operator' && api !== 'mcp' && method !== 'GET',
  );

  it('by any route but that of decisions', { timeout: 60_000 }, async () => {
    expect(changing.length).toBeGreaterThan(10);
    const headers = who === 'the caller' ? {} : { authorization: `Bearer ${server.operatorToken}` };
    for (const route of changing) {
      const tools = [{ ...DOOR, schema: SCHEMA }];
      const registration = { client_id: CLIENT, tools };
      const path = '/internal/tools/register';
      await server.ask({ method: 'POST', path, body: registration, headers });
      const call = await waiting(server, await callId(server, TOOL));
      const ids = { ...UNKNOWN, call: call.id, client: CLIENT, tool: TOOL, digest: call.digest };
      const sample = requestTo(route, ids);
      const bodies = [sample.body, { ...(sample.body as object | undefined), ...yes(call) }, yes(call)];
      for (const body of bodies)
        await server.ask({ ...sample, headers: { ...sample.headers, ...headers }, body });
      await expectNotApproved(call);
    }
  });
});
