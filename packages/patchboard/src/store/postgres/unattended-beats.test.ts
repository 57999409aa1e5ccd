import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { UnattendedBeats } from './unattended-beats.ts';

it('beat only while the event loop requests no heartbeat, and no longer than ten seconds', async () => {
  const clock = new FakeClock();
  let beats = 0;
  const unattended = new UnattendedBeats(clock, () => {
    beats += 1;
    return Promise.resolve();
  });
  for (let request = 0; request < 20; request += 1) {
    unattended.requested();
    await clock.advance(500);
  }
  expect(beats).toBe(0);
  // Blocked for five seconds: twice a second, from a second after the last request on.
  await clock.advance(4500);
  expect(beats).toBe(9);
  unattended.requested();
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
  const unattended = new UnattendedBeats(clock, () => {
    beats += 1;
    return Promise.resolve();
  });
  unattended.requested();
  unattended.stop();
  await clock.advance(5000);
  expect(beats).toBe(0);
});
