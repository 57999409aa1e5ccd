import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { OperatorDecision } from '../../src/core/steps/approvals.ts';
import type { Call } from '../../src/core/call/call.ts';
import type { Store } from '../../src/core/ports.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { anEngine, aPrincipal, aRequest, aServerTool, type EngineFixture } from '../support/an-engine.ts';
import { settled } from '../support/fake-clock.ts';

const EXPIRY_MS = 600_000;
const agent = aPrincipal({ kind: 'agent', id: 'ada', agentId: 'ada' });
const operator = aPrincipal({ kind: 'operator', id: 'olga', agentId: 'olga' });
const client = aPrincipal({ kind: 'client', id: 'c1', agentId: 'c1', clientId: 'c1' });

interface Race extends EngineFixture {
  readonly execute: ReturnType<typeof vi.fn>;
  readonly call: Call;
  readonly decide: (decision: 'allow' | 'deny') => Promise<boolean>;
  readonly find: () => Promise<Call>;
}

async function aRace(given: { store?: Store } = {}): Promise<Race> {
  const execute = vi.fn(() => Promise.resolve('ran'));
  const tool = aServerTool({ name: 'toy.delete', annotations: { destructive: true }, execute });
  const fixture = await anEngine({ tools: [tool], ...given });
  const submitted = await fixture.engine.submit(aRequest({ toolName: 'toy.delete' }), agent);
  if (submitted.kind !== 'accepted') throw new Error('not accepted');
  const { call } = submitted;
  return {
    ...fixture,
    execute,
    call,
    decide: async (decision) =>
      (await fixture.engine.calls.decide(operator, call.id, decisionOn(call, decision))).ok,
    find: async () => (await fixture.engine.calls.find(agent, call.id))!,
  };
}

function decisionOn(call: Call, decision: 'allow' | 'deny'): OperatorDecision {
  return { decision, digest: call.approval!.digest, note: null };
}

const ENDS = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'DENIED', 'CANCELLED', 'SEALED'];

async function expectOneEnding({ find, execute, store, call }: Race): Promise<Call['state']['name']> {
  await settled();
  const { state, timeline } = await find();
  expect(timeline.filter((entry) => ENDS.includes(entry.state))).toHaveLength(1);
  const ran = timeline.some((entry) => entry.state === 'EXECUTING');
  expect(execute).toHaveBeenCalledTimes(ran ? 1 : 0);
  if (state.name === 'DENIED') expect(ran).toBe(false);
  const rows = await store.readLedger({ callId: call.id, kinds: ['call.state'] }, 0, 100);
  expect(rows.map(({ row }) => (JSON.parse(row.body) as { state: string }).state)).toEqual(
    timeline.map((entry) => entry.state),
  );
  return state.name;
}

describe('a request that waits', () => {
  it('has one ending, whatever races', async () => {
    const move = fc.constantFrom('allow', 'deny', 'cancel', 'expire', 'cancel run');
    const endings = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 2, maxLength: 6 }), async (moves) => {
        const race = await aRace();
        const { engine, clock, call, decide } = race;
        await Promise.all(
          moves.map(async (name) => {
            if (name === 'expire') await clock.advance(EXPIRY_MS + 1000);
            else if (name === 'cancel') await engine.calls.cancel(agent, call.id);
            else if (name === 'cancel run') await engine.runs.cancel(agent, call.runId);
            else await decide(name as 'allow' | 'deny');
          }),
        );
        endings.add(await expectOneEnding(race));
      }),
      // The first move wins. Each wins at least once, or a decision that never took effect would pass.
      {
        numRuns: 150,
        examples: [
          [['allow', 'deny']],
          [['deny', 'allow']],
          [['cancel', 'allow']],
          [['cancel run', 'allow']],
        ],
      },
    );
    expect(endings).toEqual(new Set(['COMPLETED', 'DENIED', 'CANCELLED']));
  });

  it('is not approved after the time that was shown, also when the timer is late', async () => {
    const race = await aRace();
    // The machine slept: the wall clock went on, timers did not.
    race.clock.jumpWall(EXPIRY_MS + 1);
    expect(await race.decide('allow')).toBe(false);
    expect((await race.find()).state).toMatchObject({ name: 'DENIED', error: { code: 'approval_expired' } });
    await expectOneEnding(race);
  });

  it('is never run later once it was cancelled or has expired', async () => {
    for (const end of ['cancel', 'expire'] as const) {
      const race = await aRace();
      if (end === 'cancel') await race.engine.calls.cancel(agent, race.call.id);
      else await race.clock.advance(EXPIRY_MS + 1000);
      expect(await race.decide('allow')).toBe(false);
      await race.clock.advance(EXPIRY_MS);
      expect(race.execute).not.toHaveBeenCalled();
    }
  });
});

describe('a client call that was approved', () => {
  it('times out from the approval on, once, and takes no result afterwards', async () => {
    const { engine, clock } = await anEngine({});
    await engine.clientTools.register('default', 'c1', [
      { name: 'lent.delete', schema: {}, timeout_ms: 1000, annotations: { destructive: true } },
    ]);
    const submitted = await engine.submit(aRequest({ toolName: 'lent.delete' }), agent);
    if (submitted.kind !== 'accepted') throw new Error('not accepted');
    const { call } = submitted;
    await clock.advance(5000);
    expect((await engine.calls.find(agent, call.id))?.state.name).toBe('APPROVAL_REQUIRED');
    const early = { status: 'SUCCEEDED', result: 1, error: null, attemptToken: null } as const;
    expect(await engine.clients.submit(client, call.id, early)).toMatchObject({
      ok: false,
      failure: { code: 'conflict' },
    });
    const [decided] = await Promise.all([
      engine.calls.decide(operator, call.id, decisionOn(call, 'allow')),
      clock.advance(2000),
    ]);
    expect(decided.ok).toBe(true);
    await clock.advance(2000);
    expect((await engine.calls.find(agent, call.id))?.state.name).toBe('TIMED_OUT');
    expect(await engine.clients.submit(client, call.id, early)).toMatchObject({
      ok: false,
      failure: { code: 'conflict' },
    });
  });

  it('cannot be edited once the tool is gone and with it the schema', async () => {
    const { engine } = await anEngine({});
    await engine.clientTools.register('default', 'c1', [
      { name: 'lent.delete', schema: { type: 'object' }, annotations: { destructive: true } },
    ]);
    const submitted = await engine.submit(aRequest({ toolName: 'lent.delete' }), agent);
    if (submitted.kind !== 'accepted') throw new Error('not accepted');
    await engine.clientTools.unregister('default', 'c1', null);
    const decision = { ...decisionOn(submitted.call, 'allow'), edit: { args: 'anything' } };
    expect(await engine.calls.decide(operator, submitted.call.id, decision)).toMatchObject({
      failure: { code: 'tool_not_found' },
    });
  });
});

describe('a call that was approved just before the server died', () => {
  /** The approval is durable; the server goes away before it looks at the store again to run it. */
  async function approvedThenGone(): Promise<{ race: Race; store: Store }> {
    const store = memoryStore({ digest: nodeDigest });
    const race = await aRace({ store });
    const findCall = store.findCall.bind(store);
    store.findCall = () => Promise.reject(new Error('gone'));
    await expect(race.decide('allow')).rejects.toThrow('gone');
    store.findCall = findCall;
    expect((await findCall(race.call.id))?.state.name).toBe('APPROVED');
    return { race, store };
  }

  async function restarted(race: Race, store: Store): Promise<{ runs: number; call: Call }> {
    const execute = vi.fn(() => Promise.resolve('ran'));
    const tool = aServerTool({ name: 'toy.delete', annotations: { destructive: true }, execute });
    const { engine } = await anEngine({ tools: [tool], store, clock: race.clock });
    await settled();
    return { runs: execute.mock.calls.length, call: (await engine.calls.find(agent, race.call.id))! };
  }

  it('runs after the restart, once', async () => {
    const { race, store } = await approvedThenGone();
    const { runs, call } = await restarted(race, store);
    expect([runs, call.state.name]).toEqual([1, 'COMPLETED']);
  });

  it('is refused and recorded if its arguments are others by then', async () => {
    const { race, store } = await approvedThenGone();
    const open = store.openCalls.bind(store);
    const findCall = store.findCall.bind(store);
    const change = (call: Call): Call => ({ ...call, argsJson: '{"path":"/etc"}' });
    store.openCalls = async function* () {
      for await (const call of open()) yield change(call);
    };
    store.findCall = async (id) => {
      const call = await findCall(id);
      return call === undefined || call.state.name !== 'APPROVED' ? call : change(call);
    };
    const { runs, call } = await restarted(race, store);
    expect(runs).toBe(0);
    expect(call.state).toMatchObject({ name: 'DENIED', error: { code: 'approval_denied' } });
    const [last] = (await store.readLedger({ callId: call.id }, 0, 100)).slice(-1);
    expect(JSON.parse(last!.row.body)).toMatchObject({ state: 'DENIED', code: 'approval_denied' });
  });
});
