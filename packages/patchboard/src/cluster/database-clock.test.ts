import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { DatabaseClock } from './database-clock.ts';

const DATABASE = 1_800_000_000_000;
const HOUR = 3_600_000;

function aClock(wall: number) {
  const base = new FakeClock(wall);
  const warnings: unknown[] = [];
  const log = { info: () => {}, warn: (...given: unknown[]) => void warnings.push(given), error: () => {} };
  const clock = new DatabaseClock(base, log);
  /** The database's clock is `offset` ahead of the start. */
  const measure = (offset: number, roundTripMs = 2): void => {
    const sentAt = base.elapsed();
    base.pass(roundTripMs);
    clock.measured(sentAt, base.elapsed(), DATABASE + offset + sentAt + roundTripMs / 2);
  };
  const error = (): number => clock.now() - (DATABASE + base.elapsed());
  return { base, clock, measure, error, warnings };
}

it('is that of the database, although the wall clock of the node is an hour off and jumps', () => {
  const { base, clock, measure, error } = aClock(DATABASE + HOUR);
  expect(clock.now()).toBe(DATABASE + HOUR);
  measure(0);
  expect(error()).toBe(0);
  base.jumpWall(-2 * HOUR);
  measure(0);
  expect(error()).toBe(0);
});

it('follows the measurement with the shortest round trip, by at most 5 ms a second', () => {
  const { base, measure, error } = aClock(DATABASE);
  measure(0, 10);
  measure(300, 900);
  base.pass(10_000);
  expect(error()).toBe(0);
  measure(40, 2);
  base.pass(1000);
  expect(error()).toBe(5);
  base.pass(10_000);
  expect(error()).toBe(40);
  // The shortest round trip counts among the last eight.
  for (let n = 0; n < 8; n += 1) measure(0, 20);
  base.pass(20_000);
  expect(error()).toBe(0);
});

it('follows a better measurement at once if those before it were slow', () => {
  const { measure, error, warnings } = aClock(DATABASE);
  // The time was read at the end of the round trip, not in its middle.
  measure(2500, 5000);
  expect(error()).toBe(2500);
  measure(0, 4);
  expect([error(), warnings]).toEqual([0, []]);
});

it('follows a step of the database after ten seconds, and says so for ten minutes', () => {
  const { base, clock, measure, error, warnings } = aClock(DATABASE);
  measure(0);
  measure(5000);
  expect([error(), clock.isCautious]).toEqual([0, true]);
  measure(0);
  // It was a single wrong measurement.
  expect([error(), clock.isCautious]).toEqual([0, false]);
  for (let n = 0; n < 22; n += 1) {
    measure(HOUR);
    base.pass(498);
  }
  expect(error()).toBe(HOUR);
  expect(warnings).toEqual([['cluster.clock_stepped', { by_ms: HOUR }]]);
  expect(clock.isCautious).toBe(true);
  base.pass(600_000);
  expect(clock.isCautious).toBe(false);
});
