import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { ProgressLimiter, type Progress } from './progress.ts';

let clock: FakeClock;
let sent: Progress[];
let limiter: ProgressLimiter;
beforeEach(() => {
  clock = new FakeClock();
  sent = [];
  limiter = new ProgressLimiter(clock, (progress) => sent.push(progress));
});

describe('reports', () => {
  it.each([
    [5, { progress: 5 }],
    [
      { progress: 1, total: 4, message: 'a' },
      { progress: 1, total: 4, message: 'a' },
    ],
    [
      { progress: 1, total: 'x', message: { a: 1 } },
      { progress: 1, message: '{"a":1}' },
    ],
    ['reading', { progress: 1, message: 'reading' }],
    [{ step: 'reading' }, { progress: 1, message: '{"step":"reading"}' }],
    [null, { progress: 1, message: 'null' }],
    [Number.NaN, { progress: 1, message: 'null' }],
  ])('%j', (data, expected) => {
    limiter.report(data);
    expect(sent).toEqual([expected]);
  });

  it('without a number count on, and bound their text', () => {
    limiter.report(2.5);
    limiter.report('x'.repeat(10_000));
    expect(sent[1]?.progress).toBe(3);
    expect(sent[1]?.message).toHaveLength(500);
  });

  it('that do not increase are dropped', () => {
    for (const progress of [0, 5, 5, 4, 6]) limiter.report(progress);
    expect(sent.map(({ progress }) => progress)).toEqual([0, 5, 6]);
  });
});

describe('the limit', () => {
  it('is ten in any second, the last report among them', () => {
    for (let progress = 0; progress < 1000; progress += 1) limiter.report(progress);
    limiter.end();
    expect(sent).toHaveLength(10);
    expect(sent.at(-1)).toEqual({ progress: 999 });
  });

  it('delays the newest report only', async () => {
    for (let progress = 0; progress < 100; progress += 1) limiter.report(progress);
    expect(sent).toHaveLength(9);
    await clock.advance(999);
    expect(sent).toHaveLength(9);
    await clock.advance(1);
    expect(sent.at(-1)).toEqual({ progress: 99 });
    limiter.end();
    expect(sent).toHaveLength(10);
  });

  it('leaves no timer behind', async () => {
    for (let progress = 0; progress < 100; progress += 1) limiter.report(progress);
    limiter.end();
    await clock.advance(5000);
    expect(sent).toHaveLength(10);
  });
});
