import { describe, expect, it } from 'vitest';
import { bench, BENCH_TIMEOUT_MS, expectFigures } from './tests/bench-output.ts';

// bench.long.test.ts has every figure.
describe('npm run bench', () => {
  it('prints one line of JSON for a figure', { timeout: BENCH_TIMEOUT_MS }, async () => {
    const [figure, ...others] = await expectFigures('P5');
    expect(others).toEqual([]);
    expect(figure).toMatchObject({
      id: 'P5',
      outcomes: [
        { unit: 'µs', target: '≤ 15 µs', isMet: expect.any(Boolean) },
        { unit: 'ratio', target: '≤ 0.1', isMet: expect.any(Boolean) },
        // The same after 65,000 calls.
        { unit: 'µs', target: null, isMet: null },
        { unit: 'ratio', target: null, isMet: null },
      ],
    });
  });

  it('lists the figures if an unknown one is requested', { timeout: BENCH_TIMEOUT_MS }, async () => {
    const { code, stderr } = await bench('P99');
    expect(code).toBe(2);
    expect(stderr).toContain(
      'no such figure: P99; there are P1, P2, P3, P4, P5, P6, P7, P8, P9, NODES, CPU, PROFILE, SANDBOX, P10, P11, P12, CONSOLE',
    );
  });

  it('refuses to record what a quick run measured', { timeout: BENCH_TIMEOUT_MS }, async () => {
    const { code, stderr } = await bench('--quick', '--record', 'P5');
    expect(code).toBe(2);
    expect(stderr).toContain('not recorded');
  });
});
