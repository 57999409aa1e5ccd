import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { silentLog } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { singleNode } from '../peers.ts';
import type { Replaced } from '../ports.ts';
import { move, type Call, type CallState } from './call.ts';
import { Lifecycle } from './lifecycle.ts';
import { REMOTE_CALLER, type LiveCall } from './live-call.ts';
import { Redactor } from './redaction.ts';

/** A lifecycle whose commits settle when, and in the order in which, the test says so. */
function aLifecycle(call: Call): {
  lifecycle: Lifecycle;
  live: LiveCall;
  commits: ((to: Replaced) => void)[];
} {
  const commits: ((to: Replaced) => void)[] = [];
  const store = memoryStore({ digest: nodeDigest });
  store.replaceCall = () => new Promise((resolve) => commits.push(resolve));
  const lifecycle = new Lifecycle({
    store,
    clock: new FakeClock(),
    log: silentLog,
    digest: nodeDigest,
    redactor: new Redactor([]),
    cancelled: () => {},
    ended: () => {},
    dropped: () => {},
    peers: singleNode(store),
    toolOf: () => undefined,
    movedElsewhere: () => {},
    respondedElsewhere: () => {},
    goesOn: () => {},
  });
  return { lifecycle, live: lifecycle.adopt(call, REMOTE_CALLER, undefined), commits };
}

function executing(attempt: number): CallState {
  return { name: 'EXECUTING', deadlineAt: 1_700_000_100_000, attempt, cause: null };
}

describe('a commit whose continuation runs late', () => {
  it('does not replace a newer row by the older one that a lost compare-and-set returned', async () => {
    const pending = aCall();
    const { lifecycle, live, commits } = aLifecycle(pending);
    const first = move(pending, executing(1), pending.createdAt);
    const lost = lifecycle.advance(live, [executing(1)]);
    const won = lifecycle.advance(live, [executing(1)]);
    commits[1]!({ kind: 'replaced' });
    expect(await won).toBe(true);
    const next = lifecycle.advance(live, [executing(2)]);
    commits[2]!({ kind: 'replaced' });
    expect(await next).toBe(true);
    commits[0]!({ kind: 'conflict', current: first });
    expect(await lost).toBe(false);
    expect(live.call).toMatchObject({ version: 2, state: { name: 'EXECUTING', attempt: 2 } });
    expect(lifecycle.open.all.byState).toMatchObject({ PENDING: 0, EXECUTING: 1 });
  });

  it('does not replace the row of another writer by its own older one', async () => {
    const pending = aCall();
    const { lifecycle, live, commits } = aLifecycle(pending);
    const own = lifecycle.advance(live, [executing(1)]);
    const lost = lifecycle.advance(live, [executing(1)]);
    const elsewhere = move(move(pending, executing(1), pending.createdAt), executing(2), pending.createdAt);
    commits[1]!({ kind: 'conflict', current: elsewhere });
    expect(await lost).toBe(false);
    commits[0]!({ kind: 'replaced' });
    expect(await own).toBe(true);
    expect(live.call).toEqual(elsewhere);
  });

  it('does not revive a call that another writer has ended', async () => {
    const pending = aCall();
    const { lifecycle, live, commits } = aLifecycle(pending);
    const own = lifecycle.advance(live, [executing(1)]);
    const lost = lifecycle.advance(live, [executing(1)]);
    const done: CallState = { name: 'COMPLETED', resultJson: '1', resultDigest: null };
    const ended = move(move(pending, executing(1), pending.createdAt), done, pending.createdAt);
    commits[1]!({ kind: 'conflict', current: ended });
    expect(await lost).toBe(false);
    commits[0]!({ kind: 'replaced' });
    expect(await own).toBe(true);
    expect([live.call, lifecycle.open.all.calls, lifecycle.find(pending.id)]).toEqual([ended, 0, undefined]);
  });
});
