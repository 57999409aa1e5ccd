import { describe, expect, it } from 'vitest';
import { mergeNewest, type CallRow } from './call-row.ts';

function row(id: string): CallRow {
  return {
    id,
    tool: 't',
    agent: 'a',
    via: '',
    run: 'r',
    node: null,
    state: 'COMPLETED',
    createdAt: 1,
    waitedMs: 1,
    ranMs: 1,
    totalMs: 1,
    args: '',
    code: '',
  };
}

describe('mergeNewest', () => {
  const known = new Set(['1', '2']);

  it('distinguishes new rows from changed ones', () => {
    const merged = mergeNewest((id) => known.has(id), [row('3'), row('2'), row('1')]);
    expect(merged.fresh.map(({ id }) => id)).toEqual(['3']);
    expect(merged.changed.map(({ id }) => id)).toEqual(['2', '1']);
    expect(merged.hasGap).toBe(false);
  });

  it('reports a gap if no known row is left in the page', () => {
    expect(mergeNewest((id) => known.has(id), [row('9'), row('8')]).hasGap).toBe(true);
    expect(mergeNewest((id) => known.has(id), []).hasGap).toBe(false);
  });
});
