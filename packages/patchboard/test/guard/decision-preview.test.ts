import type { CallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { closedAfterEach } from '../support/after-each.ts';
import { aPlatform, type TestPlatform } from './support/a-platform.ts';
import { askingTool, aWaitingCall, ledgerOf } from './support/asking.ts';

const closeLater = closedAfterEach();

async function aServer(given: Parameters<typeof aPlatform>[0] = {}): Promise<TestPlatform> {
  const server = await aPlatform({ tools: [askingTool().tool], ...given });
  closeLater(() => server.close());
  return server;
}

describe('the preview of an edit', () => {
  it('has the digest that the record shows once it was allowed, and records nothing', async () => {
    const server = await aServer();
    const call = await aWaitingCall(server);
    const args = { path: '/tmp/y' };
    const before = (await ledgerOf(server, call.id)).length;
    const path = `/v1/tool_calls/${call.id}/decision/preview`;
    const shown = await server.asOperator('POST', path, { args });
    const { digest } = shown.json as { digest: string };
    expect(shown.status).toBe(200);
    expect(digest).not.toBe(call.digest);
    expect(await ledgerOf(server, call.id)).toHaveLength(before);
    const same = await server.asOperator('POST', path, { args: { path: '/tmp/x' } });
    expect((same.json as { digest: string }).digest).toBe(call.digest);
    await call.decide({ decision: 'allow', args });
    const record = (await call.record()) as unknown as CallView;
    expect(record).toMatchObject({ state: 'COMPLETED', args, approval: { digest } });
    const late = await server.asOperator('POST', path, { args });
    expect([late.status, late.json.code]).toEqual([409, 'conflict']);
  });

  it('is refused as the decision would be', async () => {
    const rules = [{ tools: 'toy.*', effect: 'deny', when: [{ arg: '/path', prefix: '/etc' }] }];
    const server = await aServer({ config: { policy: { default: { rules } } } });
    const { id } = await aWaitingCall(server);
    const preview = async (args: unknown): Promise<unknown[]> => {
      const response = await server.asOperator('POST', `/v1/tool_calls/${id}/decision/preview`, { args });
      return [response.status, response.json.code];
    };
    expect(await preview({ path: '/etc/passwd' })).toEqual([403, 'permission_denied']);
    expect(await preview({ path: 7 })).toEqual([422, 'input_invalid']);
  });
});

describe('a call that waited for approval', () => {
  it('is recorded and measured with its waiting apart from its running', async () => {
    const server = await aServer();
    const call = await aWaitingCall(server);
    await call.decide({ decision: 'allow' });
    const record = (await call.record()) as unknown as CallView;
    const at = (state: string): number =>
      Date.parse(record.timeline.find((entry) => entry.state === state)?.at ?? '');
    expect(record).toMatchObject({
      waited_ms: at('EXECUTING') - at('PENDING'),
      ran_ms: at('COMPLETED') - at('EXECUTING'),
      duration_ms: at('COMPLETED') - at('PENDING'),
    });
    const denied = await aWaitingCall(server);
    await denied.decide({ decision: 'deny' });
    const { text } = await server.asOperator('GET', '/metrics');
    const valueOf = (name: string): number =>
      Number(new RegExp(`^patchboard_call_${name} (\\S+)$`, 'm').exec(text)?.[1]);
    expect(valueOf('duration_seconds_count\\{source="server"\\}')).toBe(2);
    // The one that was denied never ran.
    expect(valueOf('run_seconds_count\\{source="server"\\}')).toBe(1);
    expect(valueOf('run_seconds_sum\\{source="server"\\}')).toBeCloseTo(record.ran_ms! / 1000, 6);
  });
});
