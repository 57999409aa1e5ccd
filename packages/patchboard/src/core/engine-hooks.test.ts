import { describe, expect, it, vi } from 'vitest';
import { anAgentHandle, anEngine, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import type { Call } from './call/call.ts';
import type { Engine } from './engine.ts';
import type { HookDecision, Hooks } from './hooks/hooks.ts';
import { decodePolicy } from './access/policy/document.ts';
import { GrantIndex } from './access/grants.ts';
import { PolicyGuard } from './access/policy-guard.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { nodeClock } from '../runtime/node-clock.ts';

const agent = aPrincipal();

async function run(
  engine: Engine,
  given: { args?: unknown; hooks?: readonly Hooks[]; toolName?: string } = {},
): Promise<Call> {
  const { args = {}, hooks = [], toolName = 'toy.echo' } = given;
  const submitted = await engine.submit(
    aRequest({ toolName, args, caller: { hooks, agent: anAgentHandle('the agent') } }),
    agent,
  );
  if (submitted.kind === 'refused') throw new Error(submitted.failure.message);
  await settled();
  return (await engine.calls.find(agent, submitted.call.id))!;
}

const saying = (decision: HookDecision): Hooks => ({ preToolUse: () => decision });

describe('hooks on the one path', () => {
  it('deny a call whose arguments they replace by nothing, and it takes no slot', async () => {
    const tool = aServerTool({ name: 'toy.echo', inputSchema: {} });
    const { engine } = await anEngine({ tools: [tool], hooks: [saying({ args: undefined })] });
    expect((await run(engine)).state).toMatchObject({ name: 'DENIED', error: { code: 'hook_denied' } });
    expect(engine.load().executing).toBe(0);
  });

  it('asks the tool, then the agent, then the server, and the last deny stands', async () => {
    const order: string[] = [];
    const noting = (name: string): Hooks => ({ preToolUse: () => void order.push(name) });
    const execute = vi.fn();
    const tool = aServerTool({ name: 'toy.echo', execute, hooks: noting('tool') });
    const other = aServerTool({ name: 'toy.other', hooks: noting('other tool') });
    const { engine } = await anEngine({
      tools: [tool, other],
      hooks: [noting('server'), saying({ decision: 'deny', reason: 'not here', toolResult: { ok: false } })],
    });
    const call = await run(engine, { hooks: [noting('agent'), saying({ result: 1 })] });
    expect(order).toEqual(['tool', 'agent', 'server']);
    expect(execute).not.toHaveBeenCalled();
    expect(call.state).toMatchObject({
      name: 'DENIED',
      error: { code: 'hook_denied', toolResult: { ok: false } },
    });
    expect(call.decision).toMatchObject({ effect: 'deny', rule: 'hook', reason: 'not here' });
  });

  it('shows each hook after the tool the arguments that ran, whatever an earlier hook wrote into them', async () => {
    const seen: unknown[] = [];
    const writing: Hooks = {
      postToolUse: (given) => void Object.assign(given.args as object, { path: 'b' }),
    };
    const noting: Hooks = { postToolUse: ({ args, input }) => void seen.push(args, input) };
    const { engine } = await anEngine({
      tools: [aServerTool({ name: 'toy.echo', hooks: writing })],
      hooks: [noting],
    });
    await run(engine, { args: { path: 'a' } });
    expect(seen).toEqual([{ path: 'a' }, { path: 'a' }]);
  });

  it('records the arguments that run, not the text that came with those that were replaced', async () => {
    const { engine } = await anEngine({
      tools: [
        aServerTool({ name: 'toy.echo' }),
        aServerTool({
          name: 'toy.spelled',
          spell: (args) => Object.assign(args as object, { spelled: true }),
        }),
      ],
    });
    const recorded = async (toolName: string, hooks: readonly Hooks[]): Promise<string> => {
      const args = { n: 1 };
      const argsText = { of: args, json: '{"n":1}' };
      const caller = { hooks, agent: anAgentHandle('the agent') };
      const submitted = await engine.submit(aRequest({ toolName, args, argsText, caller }), agent);
      if (submitted.kind === 'refused') throw new Error(submitted.failure.message);
      return submitted.call.argsJson;
    };
    expect(await recorded('toy.echo', [])).toBe('{"n":1}');
    expect(await recorded('toy.echo', [saying({ args: { n: 2 } })])).toBe('{"n":2}');
    expect(await recorded('toy.spelled', [])).toBe('{"n":1,"spelled":true}');
    const mutating: Hooks = { preToolUse: (call) => void ((call.args as { n: number }).n = 3) };
    expect(await recorded('toy.echo', [mutating])).toBe('{"n":1}');
  });

  it('keeps a result that a hook had at hand, and runs nothing', async () => {
    const execute = vi.fn();
    const { engine } = await anEngine({
      tools: [aServerTool({ name: 'toy.echo', execute })],
      hooks: [saying({ result: { cached: true } })],
    });
    const call = await run(engine);
    expect(call.state).toMatchObject({ name: 'COMPLETED', resultJson: '{"cached":true}' });
    expect(call.timeline.map((entry) => entry.state)).toEqual(['PENDING', 'COMPLETED']);
    expect(execute).not.toHaveBeenCalled();
  });

  it('checks a result at hand against the output schema', async () => {
    const tool = aServerTool({ name: 'toy.echo', outputSchema: { type: 'string' } });
    const { engine } = await anEngine({ tools: [tool], hooks: [saying({ result: 1 })] });
    expect((await run(engine)).state).toMatchObject({ name: 'FAILED', error: { code: 'output_invalid' } });
  });

  it('runs, records and shows for approval the arguments as hooks left them, if they fit', async () => {
    const tool = aServerTool({
      name: 'toy.echo',
      inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
    });
    const { engine } = await anEngine({ tools: [tool], hooks: [saying({ args: { n: 2 } })] });
    expect(await run(engine, { args: { n: 1 } })).toMatchObject({
      argsJson: '{"n":2}',
      state: { resultJson: '{"echo":{"n":2}}' },
    });
    const { engine: strict } = await anEngine({ tools: [tool], hooks: [saying({ args: { n: 'two' } })] });
    await expect(run(strict)).rejects.toThrow('a hook changed the arguments so that args/n must be integer');
    const { engine: asking } = await anEngine({
      tools: [tool],
      hooks: [saying({ args: { n: 3 } }), saying({ decision: 'ask', reason: 'large' })],
    });
    expect(await run(asking)).toMatchObject({
      argsJson: '{"n":3}',
      state: { name: 'APPROVAL_REQUIRED' },
      approval: { reason: 'large' },
    });
  });

  it('shows for approval both the reason of the policy and that of a hook', async () => {
    const rules = [{ tools: 'toy.echo', effect: 'ask', reason: 'every echo' }];
    const decoded = decodePolicy({ default: { mode: 'auto', rules } });
    if (!decoded.ok) throw new Error('bad policy');
    const guard = new PolicyGuard(
      { version: 1, document: decoded.policy },
      new GrantIndex(nodeDigest),
      nodeClock,
    );
    const tool = aServerTool({ name: 'toy.echo', hooks: saying({ decision: 'ask', reason: 'large' }) });
    const { engine } = await anEngine({ tools: [tool], guard });
    expect(await run(engine)).toMatchObject({
      state: { name: 'APPROVAL_REQUIRED' },
      approval: { reason: 'every echo; large' },
    });
  });

  it('lets policy judge what a hook makes of the arguments', async () => {
    const rules = [
      { tools: 'toy.echo', effect: 'deny', when: [{ arg: '/n', gt: 10 }], reason: 'too much' },
      { tools: 'toy.echo', effect: 'ask', when: [{ arg: '/n', gt: 5 }] },
    ];
    const decoded = decodePolicy({ default: { mode: 'auto', rules } });
    if (!decoded.ok) throw new Error('bad policy');
    const grants = new GrantIndex(nodeDigest);
    const guard = new PolicyGuard({ version: 1, document: decoded.policy }, grants, nodeClock);
    const execute = vi.fn(() => Promise.resolve(1));
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo', execute })], guard });
    const endedAs = async (n: number, ...hooks: readonly Hooks[]): Promise<string> =>
      (await run(engine, { args: { n }, hooks })).state.name;
    expect(await endedAs(1, saying({ args: { n: 11 } }))).toBe('DENIED');
    expect(await endedAs(1, saying({ args: { n: 11 } }), saying({ result: 1 }))).toBe('DENIED');
    expect(await endedAs(1, saying({ args: { n: 6 } }))).toBe('APPROVAL_REQUIRED');
    expect(await endedAs(6, saying({ args: { n: 1 } }))).toBe('APPROVAL_REQUIRED');
    expect(execute).not.toHaveBeenCalled();
    expect(await endedAs(1, saying({ args: { n: 2 } }))).toBe('COMPLETED');
  });

  it('cannot lift what policy denies or asks, but decides where policy leaves it to hooks', async () => {
    const tools = [aServerTool({ name: 'toy.echo' })];
    const guardOf = (mode: string): PolicyGuard => {
      const decoded = decodePolicy({ default: { mode } });
      if (!decoded.ok) throw new Error('bad policy');
      return new PolicyGuard({ version: 1, document: decoded.policy }, new GrantIndex(nodeDigest), nodeClock);
    };
    const stateUnder = async (mode: string, hooks: readonly Hooks[]): Promise<string> => {
      // A tool of mode deny is not even listed; a rule makes it visible and denied.
      const { engine } = await anEngine({ tools, hooks, guard: guardOf(mode) });
      return (await run(engine)).state.name;
    };
    expect(await stateUnder('ask', [saying({ result: 1 })])).toBe('APPROVAL_REQUIRED');
    expect(await stateUnder('ask', [saying({ decision: 'allow' })])).toBe('APPROVAL_REQUIRED');
    expect(await stateUnder('custom', [])).toBe('APPROVAL_REQUIRED');
    expect(await stateUnder('custom', [saying(undefined)])).toBe('APPROVAL_REQUIRED');
    expect(await stateUnder('custom', [saying({ decision: 'allow' })])).toBe('COMPLETED');
    expect(await stateUnder('custom', [saying({ result: 1 })])).toBe('COMPLETED');
    expect(await stateUnder('custom', [saying({ decision: 'deny' })])).toBe('DENIED');
  });

  describe('where policy leaves it to the hooks', () => {
    type From = 'tool' | 'agent' | 'board';
    const custom = { mode: 'custom' } as const;
    /** One hook that speaks, under a policy of mode custom of the board or of the agent. */
    const stateOf = async (
      policy: { readonly board?: object; readonly agent?: object },
      hooks: Partial<Record<From, readonly Hooks[]>>,
    ): Promise<string> => {
      const decoded = decodePolicy({ default: policy.board ?? {} });
      const own = decodePolicy({ default: policy.agent ?? {} });
      if (!decoded.ok || !own.ok) throw new Error('bad policy');
      const document = { version: 1, document: decoded.policy };
      const { engine } = await anEngine({
        tools: [aServerTool({ name: 'toy.echo', hooks: hooks.tool?.[0] ?? null })],
        hooks: hooks.board ?? [],
        guard: new PolicyGuard(document, new GrantIndex(nodeDigest), nodeClock),
      });
      const permissions = policy.agent === undefined ? [] : [own.policy.default];
      const caller = { hooks: hooks.agent ?? [], agent: undefined, permissions };
      const submitted = await engine.submit(
        aRequest({ toolName: 'toy.echo', args: { n: 1 }, caller }),
        agent,
      );
      if (submitted.kind === 'refused') throw new Error(submitted.failure.message);
      await settled();
      return (await engine.calls.find(agent, submitted.call.id))!.state.name;
    };

    describe.each<[string, Hooks]>([
      ['allow', saying({ decision: 'allow' })],
      ['a result', saying({ result: 1 })],
    ])('%s', (_what, hook) => {
      it.each<[keyof Parameters<typeof stateOf>[0], From, string]>([
        ['board', 'tool', 'APPROVAL_REQUIRED'],
        ['board', 'agent', 'APPROVAL_REQUIRED'],
        ['board', 'board', 'COMPLETED'],
        ['agent', 'tool', 'APPROVAL_REQUIRED'],
        ['agent', 'agent', 'COMPLETED'],
        ['agent', 'board', 'COMPLETED'],
      ])('under the policy of the %s, by a hook of the %s: %s', async (whose, from, state) => {
        expect(await stateOf({ [whose]: custom }, { [from]: [hook] })).toBe(state);
      });

      it('by an agent opens its own policy, not that of the board', async () => {
        expect(await stateOf({ board: custom, agent: custom }, { agent: [hook] })).toBe('APPROVAL_REQUIRED');
        expect(await stateOf({ board: custom, agent: custom }, { board: [hook] })).toBe('COMPLETED');
      });

      it('by an agent does not hold for arguments that it changes to what the board leaves to its own', async () => {
        const rules = [{ tools: 'toy.echo', effect: 'allow', when: [{ arg: '/n', lt: 5 }] }];
        const policy = { board: { mode: 'custom', rules }, agent: custom };
        expect(await stateOf(policy, { agent: [hook] })).toBe('COMPLETED');
        expect(await stateOf(policy, { agent: [saying({ args: { n: 9 } }), hook] })).toBe(
          'APPROVAL_REQUIRED',
        );
      });
    });
  });

  it('reviews results in the same order, knows whom it serves, and fails what it cannot review', async () => {
    const adding = (name: string): Hooks => ({
      postToolUse: (_call, result, agentHandle) => ({
        update: {
          result: { seen: `${(result as { seen?: string }).seen ?? ''}${name}`, who: agentHandle?.name },
        },
      }),
    });
    const tool = aServerTool({
      name: 'toy.echo',
      execute: () => Promise.resolve({ kept: 1 }),
      hooks: adding('t'),
    });
    const { engine } = await anEngine({ tools: [tool], hooks: [adding('s')] });
    const call = await run(engine, { hooks: [adding('a')] });
    expect(call.state).toMatchObject({ resultJson: '{"kept":1,"seen":"tas","who":"the agent"}' });
    const { engine: broken } = await anEngine({
      tools: [tool],
      hooks: [{ postToolUse: () => Promise.reject(new Error('boom')) }],
    });
    expect((await run(broken)).state).toMatchObject({
      name: 'FAILED',
      error: { code: 'hook_denied', outcome: 'unknown' },
    });
  });

  it('guards what clients run, too', async () => {
    const { engine } = await anEngine({ hooks: [saying({ decision: 'deny', reason: 'no cameras' })] });
    await engine.clientTools.register('default', 'phone', [{ name: 'camera', schema: {} }]);
    expect((await run(engine, { toolName: 'camera' })).state).toMatchObject({ name: 'DENIED' });
  });
});
