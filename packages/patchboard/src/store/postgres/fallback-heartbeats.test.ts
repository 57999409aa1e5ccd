import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { FallbackHeartbeats } from './fallback-heartbeats.ts';

it('beat only while the event loop requests no heartbeat, and no longer than ten seconds', async () => {
  const clock = new FakeClock();
  let beats = 0;
  const fallback = new FallbackHeartbeats(clock, () => {
    beats += 1;
    return Promise.resolve();
  });
  for (let request = 0; request < 20; request += 1) {
    fallback.requested();
    await clock.advance(500);
  }
  expect(beats).toBe(0);
  // Blocked for five seconds: twice a second, from a second after the last request on.
  await clock.advance(4500);
  expect(beats).toBe(9);
  fallback.requested();
  await clock.advance(900);
  expect(beats).toBe(9);
  // For ever: they stop, so that other nodes see that the node is dead.
  await clock.advance(60_000);
  expect(beats).toBe(9 + 18);
  expect(clock.armed).toBe(0);
});

it('stop with the thread', async () => {
  const clock = new FakeClock();
  let beats = 0;
  const fallback = new FallbackHeartbeats(clock, () => {
    beats += 1;
    return Promise.resolve();
  });
  fallback.requested();
  fallback.stop();
  await clock.advance(5000);
  expect(beats).toBe(0);
});
