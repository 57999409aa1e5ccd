import { describe, expect, it } from 'vitest';
import { allOf, MAX_SELECTED, NOTHING_SELECTED, rangeToggled, toggled } from './row-selection.ts';

const ORDER = ['a', 'b', 'c', 'd', 'e'];
const idsOf = ({ ids }: { ids: ReadonlySet<string> }): string => [...ids].sort().join('');

describe('a selection of rows', () => {
  it('toggles one row', () => {
    const one = toggled(NOTHING_SELECTED, 'b');
    expect(idsOf(one)).toBe('b');
    expect(idsOf(toggled(one, 'b'))).toBe('');
  });

  it('gives a range, in either direction, the state of the row where it ends', () => {
    const down = rangeToggled(toggled(NOTHING_SELECTED, 'b'), ORDER, 'd');
    expect(idsOf(down)).toBe('bcd');
    expect(idsOf(rangeToggled(toggled(NOTHING_SELECTED, 'd'), ORDER, 'a'))).toBe('abcd');
    expect(idsOf(rangeToggled({ ...down, anchor: 'e' }, ORDER, 'c'))).toBe('b');
  });

  it('toggles one row if the anchor is not in the list any more', () => {
    expect(idsOf(rangeToggled({ ids: new Set(['x']), anchor: 'x' }, ORDER, 'c'))).toBe('cx');
    expect(idsOf(rangeToggled(NOTHING_SELECTED, ORDER, 'c'))).toBe('c');
  });

  it('is bounded', () => {
    const many = Array.from({ length: MAX_SELECTED + 5 }, (_, index) => `r${index}`);
    const all = allOf(many);
    expect(all.ids.size).toBe(MAX_SELECTED);
    expect(toggled(all, 'other').ids.has('other')).toBe(false);
    expect(rangeToggled(toggled(NOTHING_SELECTED, 'r0'), many, many.at(-1) ?? '').ids.size).toBe(
      MAX_SELECTED,
    );
  });
});
