import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { Sessions } from './sessions.ts';

const TOKEN = `op_${'t'.repeat(43)}`;
const HOUR_MS = 3_600_000;

describe('Sessions', () => {
  it('ends a session after twelve hours', async () => {
    const clock = new FakeClock();
    const sessions = new Sessions(TOKEN, clock);
    const { id, proof, maxAgeSeconds } = sessions.open(TOKEN)!;
    const { credentialId } = sessions.find(id, proof)!;
    expect(maxAgeSeconds).toBe(12 * 3600);
    await clock.advance(12 * HOUR_MS - 1);
    expect(sessions.isInForce(credentialId)).toBe(true);
    await clock.advance(1);
    expect(sessions.isInForce(credentialId)).toBe(false);
    expect(sessions.find(id, proof)).toBeNull();
  });

  it('is nothing without the proof that belongs to it', () => {
    const sessions = new Sessions(TOKEN, new FakeClock());
    const { id, proof } = sessions.open(TOKEN)!;
    const other = sessions.open(TOKEN)!;
    for (const wrong of [undefined, '', other.proof, [proof], id])
      expect(sessions.find(id, wrong)).toBeNull();
    expect(sessions.find(id, proof)).not.toBeNull();
  });

  it('takes a login token for an hour and once, and nothing that is no token', async () => {
    const clock = new FakeClock();
    const sessions = new Sessions(TOKEN, clock);
    const [spent, late] = [sessions.issueLoginToken().token, sessions.issueLoginToken().token];
    expect(sessions.open(spent)).not.toBeNull();
    expect(sessions.open(spent)).toBeNull();
    await clock.advance(HOUR_MS);
    expect(sessions.open(late)).toBeNull();
    for (const token of ['', 'op_', TOKEN.slice(0, -1), `${TOKEN} `]) expect(sessions.open(token)).toBeNull();
  });

  it('tells of what it closes, by a name that does not open it', () => {
    const sessions = new Sessions(TOKEN, new FakeClock());
    const closed: string[] = [];
    sessions.onClosed((credentialId) => closed.push(credentialId));
    const { id, proof } = sessions.open(TOKEN)!;
    const { credentialId } = sessions.find(id, proof)!;
    expect(sessions.find(credentialId, proof)).toBeNull();
    expect(id).not.toContain(credentialId.slice('session:'.length));
    sessions.close(id);
    sessions.close(id);
    expect(closed).toEqual([credentialId]);
  });

  it('forgets the oldest when there are too many', () => {
    const sessions = new Sessions(TOKEN, new FakeClock());
    const oldest = sessions.open(TOKEN)!;
    const others = Array.from({ length: 1000 }, () => sessions.open(TOKEN)!);
    expect(sessions.find(oldest.id, oldest.proof)).toBeNull();
    expect(others.every(({ id, proof }) => sessions.find(id, proof) !== null)).toBe(true);
  });
});
