import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../core/access/principal.ts';
import { aPrincipal } from '../../../../test/support/an-engine.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { OpenStreams } from './open-streams.ts';

const DAY_MS = 86_400_000;

function expiringIn(clock: FakeClock, ms: number): Principal {
  return aPrincipal({ credential: { id: 'key_1', expiresAt: clock.now() + ms } });
}

describe('a stream whose credential expires', () => {
  it.each([1, 23, 24, 100])('ends then, in %i days, and not before', async (days) => {
    const clock = new FakeClock();
    const streams = new OpenStreams(clock);
    let ends = 0;
    streams.add(() => (ends += 1), expiringIn(clock, days * DAY_MS));
    await clock.advance(days * DAY_MS - 1);
    expect([ends, streams.size]).toEqual([0, 1]);
    await clock.advance(1);
    expect([ends, streams.size]).toEqual([1, 0]);
  });

  it('leaves no timer when it ends before', async () => {
    const clock = new FakeClock();
    const streams = new OpenStreams(clock);
    const remove = streams.add(() => {}, expiringIn(clock, 100 * DAY_MS));
    await clock.advance(50 * DAY_MS);
    expect(clock.armed).toBe(1);
    remove();
    expect([clock.armed, streams.size]).toEqual([0, 0]);
  });
});
