import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isToolName } from '../../core/tools/tool-names.ts';
import { nameUpstreamTools, upstreamToolName } from './tool-names.ts';

describe('upstreamToolName', () => {
  it.each([
    ['list_issues', 'gh.list_issues'],
    ['repo.list-all', 'gh.repo.list-all'],
    ['a/b c:d', 'gh.a_b_c_d'],
    ['größe', 'gh.gr__e'],
    ['😀', 'gh._'],
  ])('names %s %s', (original, name) => expect(upstreamToolName('gh', original)).toBe(name));
});

describe('nameUpstreamTools', () => {
  it('keeps the order and the original names', () => {
    expect(nameUpstreamTools('gh', ['b', 'a/c'])).toEqual({
      named: [
        { index: 0, original: 'b', name: 'gh.b' },
        { index: 1, original: 'a/c', name: 'gh.a_c' },
      ],
      rejected: [],
    });
  });

  it('rejects the later of two tools whose names fall together, and names the first', () => {
    const { named, rejected } = nameUpstreamTools('gh', ['a/b', 'a b', 'a_b', 'x']);
    expect(named.map(({ index, name }) => [index, name])).toEqual([
      [0, 'gh.a_b'],
      [3, 'gh.x'],
    ]);
    expect(rejected).toMatchObject([
      {
        name: 'gh.a_b',
        code: 'name_taken',
        reasons: [{ code: 'upstream_name_taken', params: { tool: 'a b', other: 'a/b' } }],
      },
      { name: 'gh.a_b', reasons: [{ params: { tool: 'a_b', other: 'a/b' } }] },
    ]);
  });

  it('rejects names of more than 128 characters, and empty ones', () => {
    const { named, rejected } = nameUpstreamTools('gh', ['x'.repeat(125), 'x'.repeat(126), '']);
    expect(named).toHaveLength(1);
    expect(rejected).toMatchObject([
      {
        code: 'name_invalid',
        reasons: [{ code: 'upstream_name_long', params: { characters: 129, most: 128 } }],
      },
      { code: 'name_invalid', reasons: [{ code: 'tool_name_bad' }] },
    ]);
    expect(rejected.every(({ name }) => name.length <= 128)).toBe(true);
  });

  it('shows no hidden characters of an original', () => {
    const { rejected } = nameUpstreamTools('gh', ['a_', 'a\u200b']);
    expect(rejected[0]?.reason).not.toContain('\u200b');
  });

  it('returns each tool once, under different names that the server accepts', () => {
    const original = fc.oneof(fc.string(), fc.string({ unit: 'grapheme', maxLength: 200 }));
    fc.assert(
      fc.property(fc.array(original), (originals) => {
        const { named, rejected } = nameUpstreamTools('gh', originals);
        expect(named.length + rejected.length).toBe(originals.length);
        expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
        for (const { index, name } of named) {
          expect(isToolName(name)).toBe(true);
          expect(name).toBe(upstreamToolName('gh', originals[index] ?? ''));
        }
      }),
    );
  });
});
