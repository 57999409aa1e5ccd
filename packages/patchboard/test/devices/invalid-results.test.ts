import { connectDevice, deviceTool, type DeviceProblem, type ResultFate } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { callId, ended } from './support/agent.ts';
import { aDevice, DEVICE_INFO, type BareDevice, type Frame } from './support/bare-device.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();
const DEEP = `${'['.repeat(99)}${']'.repeat(99)}`;
/** No test waits as long: a call that ends by its timeout fails here. */
const TOOL = { ...DEVICE_INFO, timeout_ms: 3_600_000 };

let server: TestPlatform;
beforeAll(async () => {
  server = await aPlatform();
});
afterAll(async () => await server.close());

async function asked(more: object = {}): Promise<{ device: BareDevice; call: string; id: string }> {
  const device = await aDevice(server.port);
  closeLater(() => device.close());
  await device.register({ ...TOOL, ...more });
  const call = await callId(server, 'device_info');
  const { id } = (await device.next('tool_call_request')) as Frame & { id: string };
  return { device, call, id };
}

describe('a result of a device that cannot be read', () => {
  it.each<[string, (id: string) => string | Buffer, string]>([
    [
      'is too deep',
      (id) => `{"type":"tool_result","id":"${id}","output":${DEEP}}`,
      'nested more than 64 deep',
    ],
    [
      'is too deep before it names its id',
      (id) => `{"output":${DEEP},"type":"tool_result","id":"${id}"}`,
      'nested',
    ],
    ['is broken', (id) => `{"type":"tool_result","id":"${id}","output":{"a":}}`, 'not acceptable JSON'],
    ['is cut off', (id) => `{"type":"tool_result","id":"${id}","output":"abc`, 'not acceptable JSON'],
    [
      'has a key twice',
      (id) => `{"type":"tool_result","id":"${id}","output":{"a":1,"a":2}}`,
      'not acceptable JSON',
    ],
    [
      'has a member of the wrong type',
      (id) => `{"type":"tool_error","id":"${id}","error":7}`,
      'tool_error/error',
    ],
    ['is binary', (id) => Buffer.from(`{"type":"tool_result","id":"${id}","output":1}`), 'frames are text'],
  ])('ends its call at once with the reason where it %s', async (_what, frameOf, reason) => {
    const { device, call, id } = await asked();
    device.socket.send(frameOf(id));
    expect(await device.next('result_acknowledged')).toMatchObject({
      id,
      accepted: false,
      reason: 'invalid',
      error: { code: 'result_invalid', message: expect.stringContaining(reason) as string },
    });
    expect(await ended(server, call)).toMatchObject({
      state: 'FAILED',
      error: {
        code: 'result_invalid',
        message: expect.stringContaining(reason) as string,
        outcome: 'unknown',
        retryable: false,
      },
    });
  });

  it('gets the same response when it is sent again, and another result comes too late', async () => {
    const { device, id } = await asked();
    const frame = `{"type":"tool_result","id":"${id}","output":${DEEP}}`;
    for (const _time of [1, 2]) {
      device.socket.send(frame);
      expect(await device.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'invalid' });
    }
    device.send({ type: 'tool_result', id, output: 1 });
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'conflict' });
  });

  it('of another attempt ends nothing', async () => {
    const { device, call, id } = await asked();
    const stale = id.replace(/:1\./, ':2.');
    device.socket.send(`{"type":"tool_result","id":"${stale}","output":${DEEP}}`);
    expect(await device.next('result_acknowledged')).toMatchObject({
      id: stale,
      accepted: false,
      reason: 'late',
    });
    device.send({ type: 'tool_result', id, output: 'fine' });
    expect(await device.next('result_acknowledged')).toMatchObject({ id, accepted: true });
    expect(await ended(server, call)).toMatchObject({ state: 'COMPLETED', result: 'fine' });
  });

  it('of another client ends nothing', async () => {
    const { device, call, id } = await asked();
    const other = await aDevice(server.port);
    closeLater(() => other.close());
    other.send({ type: 'hello', client_id: 'other' });
    await other.next('welcome');
    other.socket.send(`{"type":"tool_result","id":"${id}","output":${DEEP}}`);
    expect(await other.next('result_acknowledged')).toMatchObject({ accepted: false, reason: 'unknown' });
    device.send({ type: 'tool_result', id, output: 'fine' });
    expect(await ended(server, call)).toMatchObject({ state: 'COMPLETED' });
  });

  it.each([
    ['no id', () => `{"type":"tool_result","output":${DEEP}}`],
    ['an id twice', (id: string) => `{"type":"tool_result","id":"${id}","id":"${id}"}`],
    ['progress', (id: string) => `{"type":"progress","id":"${id}","data":${DEEP}}`],
  ])('is an error and no more where it has %s', async (_what, frameOf) => {
    const { device, call, id } = await asked();
    device.socket.send(frameOf(id));
    expect(await device.next('error')).toMatchObject({ code: 'INVALID_JSON' });
    device.send({ type: 'tool_result', id, output: 'fine' });
    expect(await ended(server, call)).toMatchObject({ state: 'COMPLETED' });
  });
});

describe('a device of the SDK whose result cannot be read', () => {
  it('hears why, and does not send it again', async () => {
    const problems: DeviceProblem[] = [];
    const fates: ResultFate[] = [];
    const device = connectDevice(`http://127.0.0.1:${server.port}`, {
      clientId: 'deep-sender',
      tools: [deviceTool({ name: 'deep', run: () => JSON.parse(DEEP) as unknown })],
      onProblem: (problem) => problems.push(problem),
      onResult: (fate) => fates.push(fate),
    });
    closeLater(() => device.close());
    await device.ready;
    const call = await ended(server, await callId(server, 'deep'));
    expect(call).toMatchObject({ state: 'FAILED', error: { code: 'result_invalid' } });
    const message = expect.stringContaining('nested more than 64 deep') as string;
    await waitFor(() => expect(problems).toMatchObject([{ kind: 'result', message }]));
    expect(fates).toMatchObject([{ accepted: false, reason: 'invalid', error: { message } }]);
    expect(device.unacknowledged).toBe(0);
  });
});

describe('a result of a device that breaks the output schema', () => {
  it('gets its reason as the response', async () => {
    const { device, call, id } = await asked({ output_schema: { type: 'integer' } });
    device.send({ type: 'tool_result', id, output: 'seven' });
    const message = "the result does not fit the tool's output schema: the result must be integer";
    const error = { code: 'output_invalid', message };
    expect(await device.next('result_acknowledged')).toMatchObject({ id, accepted: true, error });
    expect(await ended(server, call)).toMatchObject({ state: 'FAILED', error });
  });
});
