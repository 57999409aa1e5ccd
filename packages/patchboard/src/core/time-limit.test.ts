import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { withTimeLimit } from './time-limit.ts';

describe('work with a time limit', () => {
  it('resolves and rejects as the work does, and clears its timer', async () => {
    const clock = new FakeClock();
    const late = vi.fn(() => 'late');
    expect(await withTimeLimit(clock, 1000, Promise.resolve('done'), late)).toBe('done');
    const failed = withTimeLimit(clock, 1000, Promise.reject(new Error('no')), late);
    await expect(failed).rejects.toThrow('no');
    await clock.advance(2000);
    expect(late).not.toHaveBeenCalled();
  });

  it('resolves with what is given for the end of the time', async () => {
    const clock = new FakeClock();
    const limited = withTimeLimit(clock, 1000, new Promise<string>(() => {}), () => 'late');
    await clock.advance(1000);
    expect(await limited).toBe('late');
  });
});
