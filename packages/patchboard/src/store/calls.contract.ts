import { describe, expect, it } from 'vitest';
import { move, type Approval, type Call } from '../core/call/call.ts';
import type { Subject } from './store.contract.ts';
import {
  START,
  aCall,
  aRecord,
  aRun,
  anEntry,
  askingForInput,
  callId,
  completed,
  executing,
  failed,
  idsOf,
  insertAll,
  rowsOf,
} from './samples.contract.ts';

const REPLACED = { kind: 'replaced' };

export function describeCalls(subject: Subject): void {
  describe('a call', () => {
    it('is found as it was written, every field', async () => {
      const approval: Approval = {
        digest: 'd',
        expiresAt: START + 5,
        reason: 'risky',
        decision: 'allow',
        decidedBy: 'op',
        decidedAt: START + 4,
        note: 'fine',
        originalArgsJson: '{"text":"before"}',
      };
      const call: Call = aCall(1, {
        source: 'client',
        clientId: 'phone-1',
        target: 'phone-2',
        argsJson: '{"text":"天气 \\u0000 \\" ü"}',
        traceId: 'trace-1',
        replayOf: callId(9),
        parentCallId: callId(8),
        fence: 'secret',
        approval,
      });
      await subject.store.insertCall(aRecord(call));
      expect(await subject.store.findCall(call.id)).toEqual(call);

      for (const [index, next] of [executing(call), failed(call), completed(call)].entries()) {
        const other = { ...next, id: callId(10 + index) };
        await subject.store.insertCall(aRecord(other));
        expect(await subject.store.findCall(other.id)).toEqual(other);
      }
    });

    it('is not found under an unknown id', async () => {
      expect(await subject.store.findCall('tc_nothing')).toBeUndefined();
    });

    it('is found beside an id that no store could have, such as one with the character 0', async () => {
      const { store } = subject;
      const call = aCall(1);
      await insertAll(store, [call]);
      const found = ['tc_\0', call.id, '\ud800'].map(async (id) => await store.findCall(id));
      expect(await Promise.all(found)).toEqual([undefined, call, undefined]);
    });

    it('cannot be inserted twice under one id, and other writes of the same batch succeed', async () => {
      const { store } = subject;
      await insertAll(store, [aCall(1)]);
      const results = await Promise.allSettled([
        store.insertCall(aRecord(aCall(2, { runId: 'run_2' }))),
        store.insertCall(aRecord(aCall(1, { runId: 'run_3' }))),
        store.insertCall(aRecord(aCall(3))),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(idsOf((await store.listCalls({ tenant: 'acme' }, null, 10)).items)).toEqual(
        [3, 2, 1].map(callId),
      );
      expect(await store.findRun('acme', 'run_2')).toBeDefined();
      expect(await store.findRun('acme', 'run_3')).toBeUndefined();
      expect((await store.ledgerHead()).seq).toBe(3);
    });
  });

  describe('replaceCall', () => {
    it('lets exactly one of many racing writers win, and only the winner reaches the ledger', async () => {
      const { store } = subject;
      const call = aCall(1);
      await insertAll(store, [call]);
      const endings = [completed(call), failed(call), executing(call), completed(call), failed(call)];
      const won = await Promise.all(
        endings.map(async (next) => await store.replaceCall(next, 1, rowsOf(next, 1), false)),
      );
      const winners = endings.filter((_, index) => won[index]?.kind === 'replaced');
      expect(winners).toHaveLength(1);
      const winner = winners[0]!;
      expect(await store.findCall(call.id)).toEqual(winner);
      const rows = await store.readLedger({ callId: call.id }, 0, 100);
      expect(rows.map(({ row }) => row.body)).toEqual(rowsOf(winner).map(({ body }) => body));
    });

    it('returns the stored row to every writer that lost', async () => {
      const { store } = subject;
      const call = aCall(1);
      await insertAll(store, [call]);
      const endings = [executing(call), completed(call), failed(call)];
      const replaced = await Promise.all(
        endings.map(async (next) => await store.replaceCall(next, 1, rowsOf(next, 1), false)),
      );
      const current = await store.findCall(call.id);
      expect(current).toEqual(endings[0]);
      expect(replaced).toEqual([
        { kind: 'replaced' },
        { kind: 'conflict', current },
        { kind: 'conflict', current },
      ]);
    });

    it('writes nothing for a version that is not the stored one and for a call that is not stored', async () => {
      const { store } = subject;
      const call = aCall(1);
      await insertAll(store, [call]);
      const done = completed(call);
      expect(await store.replaceCall(done, 2, rowsOf(done, 1), false)).toEqual({
        kind: 'conflict',
        current: call,
      });
      expect(await store.replaceCall(completed(aCall(2)), 1, rowsOf(done, 1), false)).toEqual({
        kind: 'conflict',
        current: undefined,
      });
      expect(await store.findCall(call.id)).toEqual(call);
      expect((await store.ledgerHead()).seq).toBe(1);
    });

    it('stores the sandbox of a call', async () => {
      const { store } = subject;
      const call = { ...aCall(1), sandbox: 'bubblewrap' } as const;
      await insertAll(store, [call]);
      expect(await store.findCall(call.id)).toEqual(call);
      const next = { ...executing(aCall(1)), sandbox: call.sandbox };
      expect(await store.replaceCall(next, 1, rowsOf(next, 1), false)).toEqual(REPLACED);
      expect(await store.findCall(call.id)).toEqual(next);
    });

    it('rewrites the arguments only if `argsChanged` is set', async () => {
      const { store } = subject;
      await insertAll(store, [aCall(1), aCall(2)]);
      const edited = { ...executing(aCall(1)), argsJson: '{"edited":true}', argsRedacted: true };
      expect(await store.replaceCall(edited, 1, rowsOf(edited, 1), true)).toEqual(REPLACED);
      expect(await store.findCall(edited.id)).toEqual(edited);
      const kept = executing(aCall(2));
      expect(await store.replaceCall(kept, 1, rowsOf(kept, 1), false)).toEqual(REPLACED);
      expect(await store.findCall(kept.id)).toEqual(kept);
      const late = { ...executing(aCall(1)), argsJson: '{"late":true}' };
      expect(await store.replaceCall(late, 1, rowsOf(late, 1), true)).toEqual({
        kind: 'conflict',
        current: edited,
      });
      expect(await store.findCall(edited.id)).toEqual(edited);
    });

    it('may follow an insert that has not settled', async () => {
      const { store } = subject;
      const call = aCall(1);
      const done = completed(call);
      const inserted = store.insertCall(aRecord(call));
      const replaced = store.replaceCall(done, 1, rowsOf(done, 1), false);
      expect([(await inserted).kind, await replaced]).toEqual(['inserted', REPLACED]);
    });
  });

  describe('idempotency', () => {
    const key = { scope: 'acme/agent-1/weather.query/k', bodyHash: 'body-1', expiresAt: START + 1_000 };

    it('returns the first call for every concurrent duplicate, and writes nothing for it', async () => {
      const { store } = subject;
      const calls = Array.from({ length: 20 }, (_, index) => aCall(index + 1, { runId: `run_${index + 1}` }));
      const results = await Promise.all(
        calls.map(async (call) => await store.insertCall(aRecord(call, key))),
      );
      expect(results[0]).toEqual({ kind: 'inserted' });
      for (const result of results.slice(1)) {
        expect(result).toEqual({ kind: 'duplicate', callId: callId(1), bodyHash: 'body-1' });
      }
      expect((await store.ledgerHead()).seq).toBe(1);
      expect(await store.findCall(callId(2))).toBeUndefined();
      expect(await store.findRun('acme', 'run_2')).toBeUndefined();
    });

    it('recognises a duplicate before it checks the run', async () => {
      const { store } = subject;
      await store.insertCall(aRecord(aCall(1), key));
      await store.cancelRun('acme', 'run_1', START + 5, anEntry());
      expect((await store.insertCall(aRecord(aCall(6), key))).kind).toBe('duplicate');
    });

    it('allows a key again when it has expired', async () => {
      const { store } = subject;
      await store.insertCall(aRecord(aCall(1), key));
      expect((await store.insertCall(aRecord(aCall(999), key))).kind).toBe('duplicate');
      const later = { ...key, bodyHash: 'body-2', expiresAt: START + 9_000 };
      expect((await store.insertCall(aRecord(aCall(1000), later))).kind).toBe('inserted');
      expect(await store.insertCall(aRecord(aCall(1001), later))).toEqual({
        kind: 'duplicate',
        callId: callId(1000),
        bodyHash: 'body-2',
      });
      expect(await store.findCall(callId(1))).toEqual(aCall(1));
    });

    it('keeps scopes apart', async () => {
      const { store } = subject;
      await store.insertCall(aRecord(aCall(1), key));
      expect((await store.insertCall(aRecord(aCall(2), { ...key, scope: 'other' }))).kind).toBe('inserted');
    });
  });

  describe('the run of a new call', () => {
    it('is created with it, and not changed by later calls', async () => {
      const { store } = subject;
      await store.insertCall(aRecord(aCall(1)));
      const later = { ...aRecord(aCall(2)), run: aRun({ createdAt: START + 99 }) };
      expect((await store.insertCall(later)).kind).toBe('inserted');
      expect(await store.findRun('acme', 'run_1')).toEqual(aRun());
    });

    it.each(['another agent', 'cancelled'])('refuses the call if it is of %s', async (why) => {
      const { store } = subject;
      await store.insertCall(aRecord(aCall(1)));
      if (why === 'cancelled') await store.cancelRun('acme', 'run_1', START + 5, anEntry());
      const head = await store.ledgerHead();
      const call = aCall(2, { agentId: why === 'cancelled' ? 'agent-1' : 'agent-2' });
      expect(await store.insertCall(aRecord(call))).toEqual({
        kind: 'run_refused',
        run: aRun({ cancelledAt: why === 'cancelled' ? START + 5 : null }),
      });
      expect(await store.findCall(call.id)).toBeUndefined();
      expect(await store.ledgerHead()).toEqual(head);
    });

    it('is the tenant’s own: another tenant may use the same id', async () => {
      const { store } = subject;
      await insertAll(store, [aCall(1), aCall(2, { tenant: 'other', agentId: 'agent-2' })]);
      expect(await store.findRun('other', 'run_1')).toMatchObject({ agentId: 'agent-2' });
    });
  });

  describe('purgeCalls', () => {
    it('removes calls that ended before, up to the limit, and keeps open calls and the ledger', async () => {
      const { store } = subject;
      const calls = [
        completed(aCall(1)),
        failed(aCall(2)),
        aCall(3),
        completed(aCall(4)),
        completed(aCall(5)),
      ];
      await insertAll(store, calls);
      const head = await store.ledgerHead();
      expect(await store.purgeCalls(START + 7, 2)).toBe(2);
      // The oldest ones were removed.
      expect(idsOf((await store.listCalls({ tenant: 'acme' }, null, 10)).items)).toEqual(
        [5, 4, 3].map(callId),
      );
      expect(await store.purgeCalls(START + 7, 10)).toBe(1);
      expect(await store.purgeCalls(START + 7, 10)).toBe(0);
      expect(idsOf((await store.listCalls({ tenant: 'acme' }, null, 10)).items)).toEqual([5, 3].map(callId));
      expect(await store.ledgerHead()).toEqual(head);
      const rows = await store.readLedger({ callId: callId(1) }, 0, 10);
      expect(rows.map(({ call }) => call)).toEqual([null, null, null]);
      expect(await store.countByState()).toEqual({ PENDING: 1, COMPLETED: 1 });
    });

    it('frees the idempotency key with the call', async () => {
      const { store } = subject;
      const key = { scope: 's', bodyHash: 'b', expiresAt: 9e12 };
      await store.insertCall(aRecord(completed(aCall(1)), key));
      await store.purgeCalls(START + 100, 10);
      expect((await store.insertCall(aRecord(aCall(2), key))).kind).toBe('inserted');
    });
  });

  it('counts calls by state', async () => {
    const { store } = subject;
    expect(await store.countByState()).toEqual({});
    await insertAll(store, [aCall(1), aCall(2), executing(aCall(3)), failed(aCall(4))]);
    const done = completed(aCall(1));
    await Promise.all([1, 2, 3].map(async () => await store.replaceCall(done, 1, rowsOf(done, 1), false)));
    expect(await store.countByState()).toEqual({ PENDING: 1, EXECUTING: 1, COMPLETED: 1, FAILED: 1 });
  });

  it('keeps a call that waits for input open: found, listed, counted, recovered and never purged', async () => {
    const { store } = subject;
    const begun = aCall(1, { acceptsInput: false, countsInRun: false });
    const asking = askingForInput(begun);
    await insertAll(store, [begun, completed(aCall(2))]);
    expect(await store.replaceCall(asking, 1, rowsOf(asking, 1))).toEqual({ kind: 'replaced' });
    expect(await store.findCall(callId(1))).toEqual(asking);
    const listed = await store.listCalls({ tenant: 'acme', states: ['INPUT_REQUIRED'] }, null, 10);
    expect(idsOf(listed.items)).toEqual([callId(1)]);
    expect(await store.countByState()).toEqual({ INPUT_REQUIRED: 1, COMPLETED: 1 });
    expect(await store.countEnded('acme')).toEqual({ COMPLETED: 1 });
    expect(await store.purgeCalls(9e12, 10)).toBe(1);
    const open: Call[] = [];
    for await (const call of store.openCalls()) open.push(call);
    expect(open).toEqual([asking]);
    const error = { code: 'input_expired', message: 'too late', retryable: true } as const;
    const ended = move(asking, { name: 'TIMED_OUT', error, resultDigest: null }, START + 9);
    expect(await store.replaceCall(ended, asking.version, rowsOf(ended, 3))).toEqual({ kind: 'replaced' });
    expect(await store.countByState()).toEqual({ TIMED_OUT: 1 });
    expect(await store.countEnded('acme')).toEqual({ TIMED_OUT: 1 });
  });

  it('counts the ended calls of one tenant, as they end and are purged', async () => {
    const { store } = subject;
    const other = (n: number): Call => aCall(n, { tenant: 'other', runId: 'run_2' });
    await insertAll(store, [aCall(1), failed(aCall(2)), completed(other(3)), completed(other(4)), other(5)]);
    const done = completed(aCall(1));
    await Promise.all([1, 2, 3].map(async () => await store.replaceCall(done, 1, rowsOf(done, 1), false)));
    expect(await store.countEnded('acme')).toEqual({ COMPLETED: 1, FAILED: 1 });
    expect(await store.countEnded('other')).toEqual({ COMPLETED: 2 });
    expect(await store.countEnded('nobody')).toEqual({});
    await store.purgeCalls(Number.MAX_SAFE_INTEGER, 3);
    expect(await store.countEnded('acme')).toEqual({});
    expect(await store.countEnded('other')).toEqual({ COMPLETED: 1 });
  });
}
