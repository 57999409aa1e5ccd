import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../core/access/principal.ts';
import { StorageFull } from '../../../core/failures.ts';
import { aPrincipal } from '../../../../test/support/an-engine.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { OpenStreams } from '../../shared/streams/open-streams.ts';
import { initialize } from './initialize.ts';
import type { Session } from './session.ts';
import { Sessions } from './sessions.ts';

const HOUR_MS = 3_600_000;
const me = aPrincipal();

function opened(
  sessions: Sessions,
  {
    principal = me,
    now = 0,
    name = 'client',
    streams = new OpenStreams(new FakeClock()),
  }: { principal?: Principal; now?: number; name?: string; streams?: OpenStreams } = {},
): Session {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name, version: '1' },
  };
  const { session } = initialize(params, principal, { now, instanceId: 'this' });
  sessions.open(session, streams);
  return session;
}

describe('sessions', () => {
  it('belong to one principal', () => {
    const sessions = new Sessions();
    const { id } = opened(sessions);
    expect(sessions.use(id, aPrincipal({ agentId: 'another' }), 1)).toBeUndefined();
    expect(sessions.use(id, aPrincipal({ tenant: 'another' }), 1)).toBeUndefined();
    expect(sessions.use(id, me, 1)?.id).toBe(id);
  });

  it('take a response again that could not be recorded', async () => {
    const session = opened(new Sessions());
    const outcomes = [Promise.reject(new StorageFull()), Promise.resolve(null)];
    const given: unknown[] = [];
    const id = session.expect((response) => {
      given.push(response);
      return outcomes.shift() ?? Promise.reject(new Error('a third response'));
    });
    await expect(session.respond(id, { result: 1 })).rejects.toThrow(StorageFull);
    expect(await session.respond(id, { result: 2 })).toBeNull();
    expect(await session.respond(id, { result: 3 })).toBeNull();
    expect(given).toEqual([{ result: 1 }, { result: 2 }]);
  });

  it('end after an hour without use', () => {
    const sessions = new Sessions();
    const { id } = opened(sessions);
    expect(sessions.use(id, me, HOUR_MS)?.id).toBe(id);
    expect(sessions.use(id, me, 2 * HOUR_MS + 1)).toBeUndefined();
    expect(sessions.size).toBe(0);
  });

  it('are closed when another is opened, if they were not used for an hour', () => {
    const sessions = new Sessions();
    opened(sessions);
    opened(sessions, { now: HOUR_MS + 1 });
    expect(sessions.size).toBe(1);
  });

  it('of one principal are bounded, so that a flood closes no session of another', () => {
    const sessions = new Sessions();
    const other = opened(sessions, { principal: aPrincipal({ agentId: 'another' }) });
    const first = opened(sessions);
    const used = opened(sessions);
    sessions.use(used.id, me, 1);
    let closed = 0;
    first.onClose(() => (closed += 1));
    for (let made = 0; made < 12_000; made += 1) {
      opened(sessions, { now: 2 });
      if (made % 500 === 0) expect(sessions.use(used.id, me, 2)).toBe(used);
    }
    expect(sessions.size).toBe(1001);
    expect(closed).toBe(1);
    expect(sessions.use(first.id, me, 2)).toBeUndefined();
    expect(sessions.use(other.id, other.principal, 2)).toBe(other);
  });

  it('are bounded in number and in bytes, the least recently used closed first', () => {
    const sessions = new Sessions();
    const streams = new OpenStreams(new FakeClock());
    const before = heapBytes();
    const ids: string[] = [];
    for (let made = 0; made < 10_500; made += 1) {
      const principal = aPrincipal({ agentId: `agent-${made % 21}` });
      // Each text is its own, as each request's is.
      const name = `${made}${'x'.repeat(20_000)}`;
      ids.push(opened(sessions, { principal, name, streams }).id);
    }
    expect(sessions.size).toBe(10_000);
    expect(streams.size).toBe(10_000);
    expect(sessions.use(ids[0]!, aPrincipal({ agentId: 'agent-0' }), 1)).toBeUndefined();
    expect(sessions.use(ids[500]!, aPrincipal({ agentId: 'agent-17' }), 1)?.id).toBe(ids[500]);
    expect((heapBytes() - before) / sessions.size).toBeLessThan(6000);
  });

  it('end with the credential that opened them', () => {
    const sessions = new Sessions();
    const streams = new OpenStreams(new FakeClock());
    const principal = aPrincipal({ credential: { id: 'key_1', expiresAt: 5 } });
    const { id } = opened(sessions, { principal, streams });
    streams.endOf('key_2');
    expect(sessions.use(id, principal, 1)?.id).toBe(id);
    streams.endOf('key_1');
    expect(sessions.use(id, principal, 1)).toBeUndefined();
    expect(streams.size).toBe(0);
  });
});

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
