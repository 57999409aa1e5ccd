import { describe, expect, it } from 'vitest';
import { isSelected } from './name-patterns.ts';

describe('isSelected', () => {
  it.each([
    [[], true],
    [['*'], true],
    [['!delete_*'], false],
    [['!create_*'], true],
    [['*', '!delete_*'], false],
    [['!delete_*', '*'], false],
    [['delete_?ll', '!*_none'], true],
    [['list_*'], false],
    [['delete'], false],
    [['!*'], false],
    [['list_*', '!create_*'], false],
  ])('with %j delete_all is selected: %s', (patterns, expected) => {
    expect(isSelected(['delete_all'], patterns)).toBe(expected);
  });

  it('compares every spelling of a tool', () => {
    const spellings = ['get_pets', 'GET /pets'];
    expect(isSelected(spellings, ['GET *'])).toBe(true);
    expect(isSelected(spellings, ['get_pets', '!GET /pets'])).toBe(false);
  });
});
