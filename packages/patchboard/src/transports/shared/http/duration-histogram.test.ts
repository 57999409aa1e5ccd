import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DurationHistogram } from './duration-histogram.ts';

const SOURCES = join(import.meta.dirname, '../../..');

describe('DurationHistogram', () => {
  it('writes cumulative buckets, sum and count for each value of its label, in seconds', () => {
    const histogram = new DurationHistogram<'a' | 'b'>('x_seconds', { help: 'how long', labels: ['kind'] });
    for (const ms of [1, 4, 700, 400_000]) histogram.add('a', ms);
    histogram.add('b', 0);
    const lines = histogram.text().split('\n');
    expect(lines.slice(0, 5)).toEqual([
      '# HELP x_seconds how long',
      '# TYPE x_seconds histogram',
      'x_seconds_bucket{le="0.001",kind="a"} 1',
      'x_seconds_bucket{le="0.005",kind="a"} 2',
      'x_seconds_bucket{le="0.01",kind="a"} 2',
    ]);
    expect(lines).toContain('x_seconds_bucket{le="1",kind="a"} 3');
    expect(lines).toContain('x_seconds_bucket{le="+Inf",kind="a"} 4');
    expect(lines).toContain('x_seconds_sum{kind="a"} 400.705');
    expect(lines).toContain('x_seconds_count{kind="b"} 1');
  });

  it('is the only histogram', () => {
    const others = globSync('**/*.ts', { cwd: SOURCES }).filter((path) =>
      /import [^;]*\b(Histogram|Summary)\b[^;]*'prom-client'/.test(readFileSync(join(SOURCES, path), 'utf8')),
    );
    expect(others).toEqual([]);
  });
});
