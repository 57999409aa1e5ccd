import { describe, expect, it } from 'vitest';
import { anEngine, anAgentHandle, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { failure } from './failures.ts';
import type { InProcessCaller } from './call/live-call.ts';
import { EMPTY_AGENT_POLICY, type AgentPolicy } from './access/policy/document.ts';

const principal = aPrincipal();
const asking = (given: Partial<InProcessCaller> = {}): InProcessCaller => ({
  hooks: [],
  agent: anAgentHandle('helper'),
  keepsRefused: true,
  ...given,
});

describe('an agent in this process', () => {
  it('gets a record of what it cannot have, under the id that it chose', async () => {
    const inputSchema = { type: 'object', required: ['n'] };
    const { engine, store } = await anEngine({ tools: [aServerTool({ name: 't', inputSchema })] });
    const events: unknown[] = [];
    engine.feed.listen((event) => {
      if ('data' in event && event.callId === 'tc_2') events.push(event.data);
    });
    const ask = (toolName: string, callId: string, parentCallId = 'tc_above') =>
      engine.submit(
        aRequest({ toolName, callId, parentCallId, args: 'not JSON', caller: asking() }),
        principal,
      );
    expect(await ask('no.such', 'tc_1')).toMatchObject({
      kind: 'denied',
      failure: { code: 'tool_not_found' },
      call: { id: 'tc_1', toolName: 'no.such', argsJson: '"not JSON"', clientId: null },
    });
    expect(await ask('t', 'tc_2')).toMatchObject({ kind: 'denied', failure: { code: 'input_invalid' } });
    const stored = await engine.calls.find(principal, 'tc_2');
    expect(stored).toMatchObject({ parentCallId: 'tc_above', state: { name: 'FAILED' } });
    expect(stored?.timeline.map(({ state }) => state)).toEqual(['PENDING', 'FAILED']);
    const rows = await store.readLedger({ callId: 'tc_2' }, 0, 10);
    expect(JSON.parse(rows[0]!.row.body)).toMatchObject({ parent_call_id: 'tc_above', state: 'PENDING' });
    expect(events).toMatchObject([{ parent_call_id: 'tc_above', state: 'PENDING' }, { state: 'FAILED' }]);
    expect(events[1]).not.toHaveProperty('parent_call_id');
    await ask('x'.repeat(500), 'tc_3');
    const made = await engine.calls.find(principal, 'tc_3');
    expect(made?.toolName).toHaveLength(128);
    expect(made?.state).toMatchObject({ error: { message: `tool not found: ${'x'.repeat(128)}` } });
  });

  it('is refused without a record where its run takes no more calls', async () => {
    const { engine } = await anEngine({});
    const request = aRequest({ toolName: 'none', callId: 'tc_1', caller: asking() });
    await engine.submit(request, principal);
    await engine.runs.cancel(principal, request.runId);
    expect(await engine.submit({ ...request, callId: 'tc_2' }, principal)).toMatchObject({ kind: 'refused' });
    const gone = { kind: 'sealed', failure: failure('interrupted') } as const;
    expect(await engine.recordEnded({ ...request, callId: 'tc_3' }, principal, gone)).toBeNull();
  });

  it('may be stricter than policy, never wider, and its word counts where policy has none', async () => {
    const annotations = { destructive: true };
    const tools = ['fs_write', 'fs_read'].map((name) =>
      aServerTool({ name, ...(name === 'fs_write' ? { annotations } : {}) }),
    );
    const { engine } = await anEngine({ tools });
    const stateOf = async (toolName: string, ...permissions: Partial<AgentPolicy>[]): Promise<string> => {
      const full = permissions.map((permission) => ({ ...EMPTY_AGENT_POLICY, ...permission }));
      const caller = asking({ permissions: full });
      const submitted = await engine.submit(aRequest({ toolName, caller }), principal);
      await settled();
      if (submitted.kind === 'refused') return 'refused';
      return (await engine.calls.find(principal, submitted.call.id))!.state.name;
    };
    expect(await stateOf('fs_read')).toBe('COMPLETED');
    expect(await stateOf('fs_read', { mode: 'ask' })).toBe('APPROVAL_REQUIRED');
    expect(await stateOf('fs_read', { mode: 'auto', autoDenyTools: ['fs_*'] })).toBe('DENIED');
    expect(await stateOf('fs_write')).toBe('APPROVAL_REQUIRED');
    expect(await stateOf('fs_write', { autoAllowTools: ['fs_write'] })).toBe('COMPLETED');
    expect(await stateOf('fs_write', { mode: 'auto' }, { mode: 'deny' })).toBe('DENIED');
    expect(await stateOf('fs_write', { mode: 'ask' }, { mode: 'auto' })).toBe('APPROVAL_REQUIRED');
  });

  it('brings its hooks back to a call that waits since before a restart', async () => {
    const { engine } = await anEngine({ tools: [aServerTool({ name: 't' })] });
    const caller = asking({ permissions: [{ ...EMPTY_AGENT_POLICY, mode: 'ask' }] });
    const submitted = await engine.submit(aRequest({ toolName: 't', callId: 'tc_1', caller }), principal);
    if (submitted.kind !== 'accepted') throw new Error(submitted.kind);
    const hooks = [{ postToolUse: () => ({ replace: { content: 'masked' } }) }];
    engine.serve('tc_1', asking({ hooks }));
    const { digest } = submitted.call.approval!;
    await engine.calls.decide(aPrincipal({ agentId: 'operator' }), 'tc_1', {
      decision: 'allow',
      digest,
      note: null,
    });
    await settled();
    expect((await engine.calls.find(principal, 'tc_1'))?.state).toMatchObject({ resultJson: '"masked"' });
  });

  it('leaves no call of a sub-agent behind when the call it works for is sealed', async () => {
    const stuck = aServerTool({ name: 'task', execute: () => new Promise(() => {}) });
    const tools = [stuck, aServerTool({ name: 't' })];
    const { engine, store } = await anEngine({ tools });
    const caller = asking({ permissions: [{ ...EMPTY_AGENT_POLICY, requireApprovalTools: ['t'] }] });
    const submit = (toolName: string, callId: string, parentCallId?: string) =>
      engine.submit(
        aRequest({ toolName, callId, caller, ...(parentCallId === undefined ? {} : { parentCallId }) }),
        principal,
      );
    await submit('task', 'tc_1');
    await submit('task', 'tc_2', 'tc_1');
    await submit('t', 'tc_3', 'tc_2');
    await submit('t', 'tc_4');
    const { engine: restarted } = await anEngine({ tools, store });
    const stateOf = async (id: string) => (await restarted.calls.find(principal, id))?.state;
    expect(await stateOf('tc_1')).toMatchObject({ name: 'SEALED' });
    expect(await stateOf('tc_2')).toMatchObject({ name: 'SEALED', error: { outcome: 'unknown' } });
    expect(await stateOf('tc_3')).toMatchObject({ name: 'CANCELLED', error: { outcome: 'not_started' } });
    expect(await stateOf('tc_4')).toMatchObject({ name: 'APPROVAL_REQUIRED' });
  });
});
