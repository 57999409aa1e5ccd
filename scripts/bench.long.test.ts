import { describe, expect, it } from 'vitest';
import { BENCH_TIMEOUT_MS, expectFigures } from './tests/bench-output.ts';

// Checks the shape only: values on a busy machine are meaningless.
describe('npm run bench', () => {
  it('prints one line of JSON for each figure', { timeout: BENCH_TIMEOUT_MS }, async () => {
    const figures = await expectFigures();
    expect(figures.map(({ id }) => id)).toEqual([
      'P1',
      'P2',
      'P3',
      'P4',
      'P5',
      'P6',
      'P7',
      'P8',
      'P9',
      'NODES',
      'CPU',
      'PROFILE',
      'SANDBOX',
      'P10',
      'P11',
      'P12',
      'CONSOLE',
    ]);
    expect(figures[0]?.arms).toHaveProperty('no_store');
    expect(figures[0]?.arms).toHaveProperty('patchboard');
  });
});
