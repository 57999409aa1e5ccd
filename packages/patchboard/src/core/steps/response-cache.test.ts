import { describe, expect, it } from 'vitest';
import {
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import type { Call } from '../call/call.ts';
import { failure, foreignText, ToolFailure } from '../failures.ts';
import type { Principal } from '../access/principal.ts';

const TTL_MS = 1000;

interface Counted extends EngineFixture {
  readonly runs: () => number;
  readonly ask: (
    args?: unknown,
    principal?: Principal,
  ) => Promise<{ call: Call; cachedAgeMs: number | undefined }>;
}

/** A tool that only reads, tells how often it ran, and can be made to fail. */
async function counted(given: { readonly fails?: boolean; readonly asks?: boolean } = {}): Promise<Counted> {
  let runs = 0;
  const fixture = await anEngine({
    tools: [
      aServerTool({
        name: 'toy.count',
        annotations: { readonly: true, ...(given.asks === true ? { requires_approval: true } : {}) },
        cacheTtlMs: TTL_MS,
        execute: () => {
          runs += 1;
          if (given.fails === true)
            return Promise.reject(new ToolFailure(failure('tool_failed', foreignText('no'))));
          return Promise.resolve({ runs });
        },
      }),
    ],
  });
  return {
    ...fixture,
    runs: () => runs,
    ask: async (args = {}, principal = aPrincipal()) => {
      const submitted = await fixture.engine.submit(
        aRequest({ toolName: 'toy.count', args, runId: `run_${principal.agentId}` }),
        principal,
      );
      if (submitted.kind !== 'accepted') throw new Error(submitted.kind);
      const call = await fixture.engine.calls.wait(principal, submitted.call.id, 60_000);
      return { call: call ?? submitted.call, cachedAgeMs: submitted.cachedAgeMs };
    },
  };
}

describe('a result that may be given again', () => {
  it('is given until its time is over, and then made anew', async () => {
    const { ask, clock, runs } = await counted();
    expect((await ask()).cachedAgeMs).toBeUndefined();
    await clock.advance(TTL_MS - 1);
    const again = await ask();
    expect(again).toMatchObject({
      cachedAgeMs: TTL_MS - 1,
      call: {
        state: { name: 'COMPLETED', resultJson: '{"runs":1}' },
        decision: { effect: 'allow', rule: 'cache' },
      },
    });
    await clock.advance(1);
    expect(await ask()).toMatchObject({
      cachedAgeMs: undefined,
      call: { state: { resultJson: '{"runs":2}' } },
    });
    expect(runs()).toBe(2);
  });

  it('is for the same tenant and the same caller only', async () => {
    const { ask, runs } = await counted();
    await ask();
    await ask({}, aPrincipal({ tenant: 'other' }));
    await ask({}, aPrincipal({ agentId: 'other' }));
    expect(runs()).toBe(3);
  });

  it('is none when the tool failed', async () => {
    const { ask, runs } = await counted({ fails: true });
    expect((await ask()).call.state.name).toBe('FAILED');
    expect((await ask()).call.state.name).toBe('FAILED');
    expect(runs()).toBe(2);
  });

  it('is not given past an operator who must be asked', async () => {
    const { engine, runs } = await counted({ asks: true });
    for (let turn = 0; turn < 2; turn += 1) {
      const submitted = await engine.submit(aRequest({ toolName: 'toy.count' }), aPrincipal());
      expect(submitted).toMatchObject({ kind: 'accepted', call: { state: { name: 'APPROVAL_REQUIRED' } } });
    }
    expect(runs()).toBe(0);
  });

  it('takes its place with a ledger row for each state, and the hash of the result', async () => {
    const { ask, store } = await counted();
    await ask();
    const { call } = await ask();
    const rows = await store.readLedger({ callId: call.id }, 0, 10);
    const bodies = rows.map(({ row }) => JSON.parse(row.body) as Record<string, unknown>);
    expect(bodies).toMatchObject([
      { state: 'PENDING', tool_name: 'toy.count', decision: { rule: 'cache' } },
      { state: 'COMPLETED', result_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
    ]);
  });

  it('is only for tools that only read', async () => {
    const tool = aServerTool({ name: 'toy.write', cacheTtlMs: TTL_MS });
    await expect(anEngine({ tools: [tool] })).rejects.toThrow('is not readonly');
  });

  it('forgets the one used longest ago when they are too many', async () => {
    const { ask, runs } = await counted();
    const large = (letter: string): unknown => ({ text: letter.repeat(5_000_000) });
    for (const letter of ['a', 'b', 'c', 'd']) await ask(large(letter));
    expect(runs()).toBe(4);
    expect((await ask(large('d'))).cachedAgeMs).toBe(0);
    expect((await ask(large('a'))).cachedAgeMs).toBeUndefined();
  });
});
