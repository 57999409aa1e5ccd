import { describe, expect, it } from 'vitest';
import { silentLog } from '../../test/support/an-engine.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { OpenedSession } from '../core/access/authenticator.ts';
import { MemoryTokens } from '../core/access/memory-tokens.ts';
import { singleNode } from '../core/peers.ts';
import { SharedChanges } from '../core/shared-changes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { OperatorTokenGuard } from './operator-token-guard.ts';
import { Sessions } from './sessions.ts';

const TOKEN = `op_${'t'.repeat(43)}`;
const ADDRESS = '203.0.113.7';
const HOUR_MS = 3_600_000;

function someSessions(clock = new FakeClock()): Sessions {
  const store = memoryStore({ digest: nodeDigest });
  const operatorToken = new OperatorTokenGuard({ tokens: [TOKEN], clock, store, log: silentLog });
  const changes = new SharedChanges({ store, peers: singleNode(store), clock, log: silentLog });
  const tokens = new MemoryTokens(clock);
  return new Sessions({ operatorToken, clock, digest: nodeDigest, tokens, store, changes });
}

async function opened(sessions: Sessions): Promise<OpenedSession> {
  const session = await sessions.open(TOKEN, ADDRESS);
  if ('code' in session) throw new Error(session.message);
  return session;
}

describe('Sessions', () => {
  it('ends a session after twelve hours', async () => {
    const clock = new FakeClock();
    const sessions = someSessions(clock);
    const { id, proof, maxAgeSeconds } = await opened(sessions);
    const { credentialId } = sessions.find(id, proof)!;
    expect(maxAgeSeconds).toBe(12 * 3600);
    await clock.advance(12 * HOUR_MS - 1);
    expect(sessions.isInForce(credentialId)).toBe(true);
    await clock.advance(1);
    expect(sessions.isInForce(credentialId)).toBe(false);
    expect(sessions.find(id, proof)).toBeNull();
  });

  it('finds no session without its matching proof', async () => {
    const sessions = someSessions();
    const { id, proof } = await opened(sessions);
    const other = await opened(sessions);
    for (const wrong of [undefined, '', other.proof, [proof], id])
      expect(sessions.find(id, wrong)).toBeNull();
    expect(sessions.find(id, proof)).not.toBeNull();
  });

  it('accepts a login token once and for one hour, and rejects invalid tokens', async () => {
    const clock = new FakeClock();
    const sessions = someSessions(clock);
    const [spent, late] = [sessions.issueLoginToken().token, sessions.issueLoginToken().token];
    const refused = { code: 'auth_required' };
    expect(await sessions.open(spent, ADDRESS)).toHaveProperty('id');
    expect(await sessions.open(spent, ADDRESS)).toMatchObject(refused);
    await clock.advance(HOUR_MS);
    expect(await sessions.open(late, ADDRESS)).toMatchObject(refused);
    for (const token of ['', 'op_', TOKEN.slice(0, -1), `${TOKEN} `])
      expect(await sessions.open(token, ADDRESS)).toMatchObject(refused);
  });

  it('notifies listeners of a closed session by an id that cannot be used to find it', async () => {
    const sessions = someSessions();
    const closed: string[] = [];
    sessions.onClosed((credentialId) => closed.push(credentialId));
    const { id, proof } = await opened(sessions);
    const { credentialId } = sessions.find(id, proof)!;
    expect(sessions.find(credentialId, proof)).toBeNull();
    expect(id).not.toContain(credentialId.slice('session:'.length));
    await sessions.close(id);
    await sessions.close(id);
    expect(closed).toEqual([credentialId]);
  });

  it('closes the oldest session when there are too many', async () => {
    const sessions = someSessions();
    const oldest = await opened(sessions);
    const others = await Promise.all(Array.from({ length: 1000 }, () => opened(sessions)));
    expect(sessions.find(oldest.id, oldest.proof)).toBeNull();
    expect(others.every(({ id, proof }) => sessions.find(id, proof) !== null)).toBe(true);
  });
});
