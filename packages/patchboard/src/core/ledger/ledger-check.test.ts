import { describe, expect, it, vi } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Call } from '../call/call.ts';
import type { Engine } from '../engine.ts';
import { LedgerVerifier, verifyLedger } from './ledger-check.ts';
import { GENESIS, type LedgerDraft } from './ledger.ts';
import type { Store } from '../ports.ts';

const agent = aPrincipal();
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const ECHO = aServerTool({ name: 'toy.echo' });
const RISKY = aServerTool({ name: 'toy.risky', annotations: { destructive: true } });
const ENDLESS = aServerTool({ name: 'toy.endless', execute: () => new Promise(() => {}) });

async function aBoard(redact: readonly string[] = []): Promise<{ engine: Engine; store: Store }> {
  return await anEngine({ tools: [ECHO, RISKY, ENDLESS], redact });
}

async function invoke(engine: Engine, toolName: string, args: unknown): Promise<string> {
  const submitted = await engine.submit(aRequest({ toolName, args }), agent);
  await settled();
  if (submitted.kind !== 'accepted') throw new Error(`not accepted: ${submitted.kind}`);
  return submitted.call.id;
}

async function allow(engine: Engine, id: string, args?: unknown): Promise<void> {
  const call = await engine.calls.find(operator, id);
  const digest = call?.approval?.digest ?? '';
  const edit = args === undefined ? {} : { edit: { args } };
  const decided = await engine.calls.decide(operator, id, { decision: 'allow', digest, note: null, ...edit });
  expect(decided.ok).toBe(true);
  await settled();
}

/** Changes the stored call without changing the ledger. */
function tampered(store: Store, id: string, change: (call: Call) => Call): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'findCall')
        return async (asked: string) => {
          const call = await target.findCall(asked);
          return call === undefined || asked !== id ? call : change(call);
        };
      const member = Reflect.get(target, name) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function withResult(call: Call, resultJson: string): Call {
  return { ...call, state: { name: 'COMPLETED', resultJson, resultDigest: null } };
}

describe('verifyLedger', () => {
  it('accepts calls that ended, wait, were edited or were redacted', async () => {
    const { engine, store } = await aBoard(['password']);
    await invoke(engine, 'toy.echo', { n: 1 });
    await invoke(engine, 'toy.echo', { password: 'secret' });
    await invoke(engine, 'toy.endless', { n: 2 });
    await allow(engine, await invoke(engine, 'toy.risky', { n: 3 }));
    await allow(engine, await invoke(engine, 'toy.risky', { n: 4 }), { n: 5 });
    await allow(engine, await invoke(engine, 'toy.risky', { password: 'a' }), { password: 'b' });
    const waiting = await invoke(engine, 'toy.risky', { n: 6 });
    expect(await verifyLedger(store, nodeDigest)).toMatchObject({ ok: true });
    const call = await engine.calls.find(operator, waiting);
    const decision = { decision: 'deny', digest: call?.approval?.digest ?? '', note: null } as const;
    await engine.calls.decide(operator, waiting, decision);
    expect(await verifyLedger(store, nodeDigest)).toMatchObject({ ok: true });
  });

  it('detects a changed result, and names the row that recorded it', async () => {
    const { engine, store } = await aBoard();
    const id = await invoke(engine, 'toy.echo', { n: 1 });
    const changed = tampered(store, id, (call) => withResult(call, '{"echo":{"n":2}}'));
    const [last] = (await store.readLedger({ callId: id }, 0, 10)).slice(-1);
    expect(JSON.parse(last!.row.body)).toMatchObject({
      state: 'COMPLETED',
      result_sha256: nodeDigest.sha256('{"echo":{"n":1}}'),
    });
    expect(await verifyLedger(changed, nodeDigest)).toMatchObject({
      ok: false,
      seq: last!.row.seq,
      problem: `the stored result of ${id} is not the one that was recorded`,
    });
  });

  it.each(['toy.echo', 'toy.endless'])('detects changed arguments: %s', async (tool) => {
    const { engine, store } = await aBoard();
    const id = await invoke(engine, tool, { n: 1 });
    const changed = tampered(store, id, (call) => ({ ...call, argsJson: '{"n":2}' }));
    expect(await verifyLedger(changed, nodeDigest)).toMatchObject({
      ok: false,
      problem: `the stored arguments of ${id} are not those that were recorded`,
    });
  });

  it('compares arguments that an operator edited with the edited ones', async () => {
    const { engine, store } = await aBoard();
    const id = await invoke(engine, 'toy.risky', { n: 1 });
    await allow(engine, id, { n: 2 });
    const back = tampered(store, id, (call) => ({ ...call, argsJson: '{"n":1}' }));
    expect(await verifyLedger(back, nodeDigest)).toMatchObject({ ok: false });
  });

  it('detects a changed end state, and a call that cannot be read', async () => {
    const { engine, store } = await aBoard();
    const id = await invoke(engine, 'toy.echo', {});
    const failed = { name: 'FAILED', error: { code: 'tool_failed', message: '' }, resultDigest: null };
    const other = tampered(store, id, (call) => ({ ...call, state: failed as unknown as Call['state'] }));
    expect(await verifyLedger(other, nodeDigest)).toMatchObject({
      ok: false,
      problem: `${id} is stored as FAILED, but COMPLETED was recorded`,
    });
    const broken = tampered(store, id, () => {
      throw new SyntaxError('no JSON');
    });
    expect(await verifyLedger(broken, nodeDigest)).toMatchObject({
      ok: false,
      problem: `the stored call ${id} cannot be read: no JSON`,
    });
  });

  it('accepts a call that changed state while the chain was read', async () => {
    const { engine, store } = await aBoard();
    const id = await invoke(engine, 'toy.risky', { n: 1 });
    const head = await store.ledgerHead();
    await allow(engine, id, { n: 2 });
    const then = new Proxy(store, {
      get: (target, name) => {
        if (name === 'ledgerHead') return () => Promise.resolve(head);
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    expect(await verifyLedger(then, nodeDigest)).toMatchObject({ ok: true });
  });

  it('ends also if a bounded store drops every row of the check while it runs', async () => {
    const store = memoryStore({ digest: nodeDigest, retain: 1 });
    const append = async (rows: number): Promise<void> => {
      const draft = {
        at: 1,
        tenant: 'default',
        kind: 'run.created',
        callId: null,
        traceId: null,
        body: '{}',
      };
      await store.append(Array.from({ length: rows }, () => draft as LedgerDraft));
    };
    await append(300);
    let reads = 0;
    const then = new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        return async (...given: unknown[]): Promise<unknown> => {
          if (name === 'readLedger' && (reads += 1) === 2) await append(5000);
          if (reads > 1000) throw new Error('the check does not end');
          return await (Reflect.apply(member, target, given) as unknown);
        };
      },
    });
    expect(await verifyLedger(then, nodeDigest)).toMatchObject({ ok: true, rows: 100 });
  });

  it('compares the calls that end after a checkpoint', async () => {
    const { engine, store } = await aBoard();
    const before = await invoke(engine, 'toy.echo', { n: 1 });
    const waiting = await invoke(engine, 'toy.risky', { n: 2 });
    const whole = await verifyLedger(store, nodeDigest);
    const from = whole.ok ? whole.checkpoint : null;
    await allow(engine, waiting);
    expect(await verifyLedger(store, nodeDigest, from)).toMatchObject({ ok: true });
    const changed = tampered(store, waiting, (call) => withResult(call, '{}'));
    expect(await verifyLedger(changed, nodeDigest, from)).toMatchObject({
      ok: false,
      problem: `the stored result of ${waiting} is not the one that was recorded`,
    });
    // No row after the checkpoint records this one.
    const ended = tampered(store, before, (call) => withResult(call, '{}'));
    expect(await verifyLedger(ended, nodeDigest, from)).toMatchObject({ ok: true });
    expect(await verifyLedger(ended, nodeDigest)).toMatchObject({ ok: false });
  });

  it('skips calls that are no longer stored', async () => {
    const { engine, store } = await aBoard();
    await invoke(engine, 'toy.echo', { n: 1 });
    expect(await store.purgeCalls(Infinity, 10)).toBe(1);
    expect(await verifyLedger(store, nodeDigest)).toMatchObject({ ok: true });
  });
});

describe('a verifier', () => {
  it('runs once for concurrent callers, and again for a later one', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const heads = vi.spyOn(store, 'ledgerHead');
    const verifier = new LedgerVerifier(store, nodeDigest);
    const verdicts = await Promise.all([verifier.verify(), verifier.verify(), verifier.verify()]);
    expect(verdicts[0]).toMatchObject({ ok: true });
    expect(new Set(verdicts).size).toBe(1);
    expect(heads).toHaveBeenCalledTimes(1);
    heads.mockRejectedValueOnce(new Error('no store'));
    await expect(verifier.verify()).rejects.toThrow('no store');
    expect(await verifier.verify()).toMatchObject({ ok: true });
  });

  it('runs verifications from different checkpoints one after the other', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const verifier = new LedgerVerifier(store, nodeDigest);
    const whole = await verifier.verify();
    const from = whole.ok ? whole.checkpoint : null;
    let running = 0;
    vi.spyOn(store, 'ledgerHead').mockImplementation(async () => {
      running += 1;
      expect(running).toBe(1);
      await settled();
      running -= 1;
      return { seq: 0, hash: GENESIS };
    });
    const wrong = { seq: 0, hash: nodeDigest.sha256(''), writers: null };
    const verdicts = await Promise.all([verifier.verify(), verifier.verify(from), verifier.verify(wrong)]);
    expect(verdicts.map(({ ok }) => ok)).toEqual([true, true, false]);
  });
});
