import { describe, expect, it } from 'vitest';
import { aPrincipal, silentLog } from '../../test/support/an-engine.ts';
import { FakeClock, settled } from '../../test/support/fake-clock.ts';
import { twoNodes } from '../../test/support/two-nodes.ts';
import type { OpenedSession } from '../core/access/authenticator.ts';
import { KeyService } from '../core/access/key-service.ts';
import { MemoryTokens } from '../core/access/memory-tokens.ts';
import { SCOPES } from '../core/access/scopes.ts';
import { singleNode, type Peers } from '../core/peers.ts';
import type { Store } from '../core/ports.ts';
import { SharedChanges } from '../core/shared-changes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { OperatorTokenGuard } from './operator-token-guard.ts';
import { Sessions } from './sessions.ts';

const TOKEN = `op_${'t'.repeat(43)}`;
const ADDRESS = '203.0.113.7';
const HOUR_MS = 3_600_000;

interface Parts {
  readonly sessions: Sessions;
  readonly keys: KeyService;
}

function someParts(
  clock = new FakeClock(),
  store: Store = memoryStore({ digest: nodeDigest }),
  peers: Peers = singleNode(store),
): Parts {
  const operatorToken = new OperatorTokenGuard({ tokens: [TOKEN], clock, store, log: silentLog });
  const changes = new SharedChanges({ store, peers, clock, log: silentLog });
  const tokens = new MemoryTokens(clock);
  const keys = new KeyService({
    store,
    clock,
    ids: timeOrderedIds(clock),
    digest: nodeDigest,
    log: silentLog,
  });
  const sessions = new Sessions({ operatorToken, keys, clock, digest: nodeDigest, tokens, store, changes });
  return { sessions, keys };
}

function someSessions(clock = new FakeClock()): Sessions {
  return someParts(clock).sessions;
}

const OPERATOR = aPrincipal({ kind: 'operator', scopes: new Set(SCOPES) });

async function aKey(
  keys: KeyService,
  name: string,
  expiresAt: number | null = null,
): Promise<{ id: string; secret: string }> {
  const made = await keys.mint(OPERATOR, { tenant: 'default', kind: 'agent', name, scopes: null, expiresAt });
  if ('code' in made) throw new Error(made.message);
  return { id: made.key.id, secret: made.secret };
}

async function opened(sessions: Sessions, token = TOKEN): Promise<OpenedSession> {
  const session = await sessions.open(token, ADDRESS);
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

  it('closes a session that another node has opened, also before it is known here', async () => {
    const clock = new FakeClock();
    const nodes = twoNodes(memoryStore({ digest: nodeDigest }));
    const [a, b] = [nodes.a, nodes.b].map(({ store, peers }) => someParts(clock, store, peers).sessions);
    nodes.a.peers.notifies = false;
    const { id, proof } = await opened(a!);
    await b!.close(id);
    await settled();
    expect(a!.find(id, proof)).toBeNull();
  });

  it('closes the oldest session when there are too many', async () => {
    const sessions = someSessions();
    const oldest = await opened(sessions);
    const others = await Promise.all(Array.from({ length: 1000 }, () => opened(sessions)));
    expect(sessions.find(oldest.id, oldest.proof)).toBeNull();
    expect(others.every(({ id, proof }) => sessions.find(id, proof) !== null)).toBe(true);
  });
});

describe('a session of a key', () => {
  it('ends when the key expires, also if that is before the twelve hours', async () => {
    const clock = new FakeClock();
    const { sessions, keys } = someParts(clock);
    const { secret } = await aKey(keys, 'auditor', clock.now() + HOUR_MS);
    const { id, proof, maxAgeSeconds } = await opened(sessions, secret);
    expect(maxAgeSeconds).toBe(3600);
    await clock.advance(HOUR_MS - 1);
    expect(sessions.find(id, proof)).not.toBeNull();
    await clock.advance(1);
    expect(sessions.find(id, proof)).toBeNull();
    expect(await sessions.open(secret, ADDRESS)).toMatchObject({ code: 'auth_required' });
  });

  it('ends, and its listeners are notified, when the key is revoked; other sessions stay', async () => {
    const { sessions, keys } = someParts();
    const [key, other] = [await aKey(keys, 'auditor'), await aKey(keys, 'other')];
    const [mine, theirs, operators] = [
      await opened(sessions, key.secret),
      await opened(sessions, other.secret),
      await opened(sessions),
    ];
    const { credentialId } = sessions.find(mine.id, mine.proof)!;
    const closed: string[] = [];
    sessions.onClosed((ended) => closed.push(ended));
    await keys.revoke(OPERATOR, key.id);
    expect(closed).toEqual([credentialId]);
    expect(sessions.isInForce(credentialId)).toBe(false);
    expect(sessions.find(mine.id, mine.proof)).toBeNull();
    for (const { id, proof } of [theirs, operators]) expect(sessions.find(id, proof)).not.toBeNull();
    expect(await sessions.open(key.secret, ADDRESS)).toMatchObject({ code: 'auth_required' });
  });

  it('is one of twenty of its key, and displaces no session of an operator or of another key', async () => {
    const { sessions, keys } = someParts();
    const [key, other] = [await aKey(keys, 'auditor'), await aKey(keys, 'other')];
    const kept = [await opened(sessions), await opened(sessions, other.secret)];
    const oldest = await opened(sessions, key.secret);
    for (let count = 0; count < 1100; count += 1) await opened(sessions, key.secret);
    expect(sessions.find(oldest.id, oldest.proof)).toBeNull();
    for (const { id, proof } of kept) expect(sessions.find(id, proof)).not.toBeNull();
  });

  it('is not opened by guessing: wrong keys are throttled per address, the right one is not', async () => {
    const { sessions, keys } = someParts();
    const { secret } = await aKey(keys, 'auditor');
    const wrong = `${secret.slice(0, 12)}${secret[12] === 'A' ? 'B' : 'A'}${secret.slice(13)}`;
    const codes: unknown[] = [];
    for (let count = 0; count < 11; count += 1)
      codes.push(((await sessions.open(wrong, ADDRESS)) as { code: unknown }).code);
    expect(codes).toEqual([...Array<string>(10).fill('auth_required'), 'rate_limited']);
    expect(await sessions.open(secret, ADDRESS)).toHaveProperty('id');
  });
});
