import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from './exit-codes.ts';
import { parseSelectPath, selectedValues } from './select-path.ts';

const VALUE = {
  tools: [
    { name: 'a', tags: ['x', 'y'] },
    { name: 'b', tags: null },
  ],
  'odd name': { 'ü"\\': 7 },
  none: null,
  text: 'añ😀c',
};

function select(path: string, value: unknown = VALUE): unknown[] {
  return selectedValues(parseSelectPath(path), value);
}

describe('a path', () => {
  it.each([
    ['.', [VALUE]],
    ['.tools[].name', ['a', 'b']],
    ['.tools[0].name', ['a']],
    ['.tools[-1].name', ['b']],
    ['.tools.[0].tags.[1]', ['y']],
    ['.tools[0:1]', [[VALUE.tools[0]]]],
    ['.tools[:-1][].name', ['a']],
    ['.tools[9]', [null]],
    ['.missing.below[3]', [null]],
    ['."odd name"["ü\\"\\\\"]', [7]],
    ['.["none"]', [null]],
    ['.tools[].tags[]?', ['x', 'y']],
    ['.tools.name?', []],
    ['.tools[0][]?', ['a', ['x', 'y']]],
    ['.text[1:3]', ['ñ😀']],
    [' .none.a? ', [null]],
  ])('%s', (path, values) => {
    expect(select(path)).toEqual(values);
  });

  it.each([
    ['', 1, 'empty'],
    ['tools', 1, 'begins with a dot'],
    ['.tools.', 8, 'after the dot'],
    ['..', 2, 'after the dot'],
    ['.a-b', 3, 'hyphen'],
    ['.tools[', 8, 'expected'],
    ['.tools[x]', 8, 'expected'],
    ['.tools[0', 9, 'a ] is expected'],
    ['.tools[:]', 9, 'slice'],
    ['.a | length', 3, 'only .name'],
    ['."a', 2, 'does not end'],
    ['."\\q"', 2, 'escape'],
  ])('%s is refused at column %i', (path, column, why) => {
    expect(() => parseSelectPath(path)).toThrow(why);
    expect(() => parseSelectPath(path)).toThrow(new RegExp(`\\n {${column + 1}}\\^+$`));
  });

  it('names the step that does not apply to a value, and what to write instead', () => {
    expect(() => select('.tools.name')).toThrow(
      'an array has no member "name": write [] before it for each item, [0] for the first\n' +
        '  .tools.name\n        ^^^^^',
    );
    expect(() => select('.tools[].tags[]')).toThrow(
      'null has no items\n  .tools[].tags[]\n               ^^',
    );
    expect(() => select('.text.a')).toThrow('a string has no member "a"');
  });
});

describe('any path', () => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.boolean());

  it('leads to the value that it was made for', () => {
    const key = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.string());
    fc.assert(
      fc.property(fc.array(key), leaf, (keys, value) => {
        const nested = keys.reduceRight<unknown>((inner, one) => around(one, inner), value);
        const path = `.${keys.map((one) => `[${JSON.stringify(one)}]`).join('')}`;
        expect(select(path, nested)).toEqual([value]);
      }),
    );
  });

  it('of a name needs no quotes if it is an identifier', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z_]\w*$/), leaf, (name, value) => {
        expect(select(`.${name}`, { [name]: value })).toEqual([value]);
      }),
    );
  });

  it('that is not valid is a usage error that marks a place in it', () => {
    const pieces = fc.constantFrom('.', '[', ']', '"', '?', 'a', '0', '-', ':', '\\', ' ', '|', 'ü', '😀');
    fc.assert(
      fc.property(fc.array(pieces), fc.jsonValue(), (parts, value) => {
        try {
          expect(Array.isArray(select(parts.join(''), value))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          expect((error as Error).message).toMatch(/^--select: .+\n.*\n +\^+$/);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

/** Wraps a value so that the key leads to it. */
function around(key: number | string, value: unknown): unknown {
  if (typeof key === 'number')
    return Array.from({ length: key + 1 }, (_, at) => (at === key ? value : 'other'));
  return JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as unknown;
}
