import { describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { callId, ended } from '../devices/support/agent.ts';
import { aDevice, DEVICE_INFO, type Frame } from '../devices/support/bare-device.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

async function aServer(limits: object = {}): Promise<TestPlatform> {
  const server = await aPlatform({ config: { limits } });
  closeLater(() => server.close());
  return server;
}

/** So large that its JSON has exactly as many bytes. */
const textOf = (bytes: number): string => 'x'.repeat(bytes - 2);

describe.each([
  ['by default', {}, 1_048_576],
  ['where it is raised', { result_bytes: 3_000_000 }, 3_000_000],
])('a result of the largest size that is allowed %s', (_when, limits, bytes) => {
  it('fits into a body and into a frame', async () => {
    const server = await aServer(limits);
    const device = await aDevice(server.port);
    closeLater(() => device.close());
    await device.register(DEVICE_INFO);
    const overSocket = await callId(server, 'device_info');
    const { id } = (await device.next('tool_call_request')) as Frame & { id: string };
    device.send({ type: 'tool_result', id, output: textOf(bytes) });
    expect(await device.next('result_acknowledged')).toMatchObject({ accepted: true });
    expect((await ended(server, overSocket)).state).toBe('COMPLETED');

    const tools = [{ name: 'lent', schema: {} }];
    const register = { method: 'POST', path: '/internal/tools/register', body: { client_id: 'c', tools } };
    expect((await server.ask(register)).json).toMatchObject({ ok: true });
    const overHttp = await callId(server, 'lent');
    const body = { status: 'SUCCEEDED', result: textOf(bytes) };
    const submitted = await server.ask({
      method: 'POST',
      path: `/internal/tool_calls/${overHttp}/submit`,
      body,
    });
    expect(submitted.json).toMatchObject({ ok: true, status: 'SUCCEEDED' });
  });
});

describe('limits.body_bytes', () => {
  it('is the largest body that is taken', async () => {
    const server = await aServer({ result_bytes: 1000, body_bytes: 70_000 });
    const ask = (bytes: number) =>
      server.ask({
        method: 'POST',
        path: '/v1/tools/calculation.eval/invoke',
        body: { run_id: 'r', args: { expression: 'x'.repeat(bytes) } },
      });
    expect((await ask(69_000)).json.code).not.toBe('too_large');
    expect((await ask(71_000)).json).toMatchObject({
      status: 413,
      code: 'too_large',
      detail: 'the body is larger than the limit of 70000 bytes',
    });
  });

  it.each([
    ['body_bytes', { body_bytes: 1_048_576 }, 1_114_112],
    ['frame_bytes', { frame_bytes: 2000, result_bytes: 2000 }, 67_536],
  ])('and frame_bytes are no smaller than a result and its envelope: %s', async (key, limits, least) => {
    await expect(aPlatform({ config: { limits } })).rejects.toThrow(
      new RegExp(`^limits\\.${key} is \\d+ and must be at least ${least}, `),
    );
  });
});
