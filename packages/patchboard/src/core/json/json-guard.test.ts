import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseGuardedJson, scanJson } from './json-guard.ts';

const LIMITS = { depth: 64, values: 100_000 };
const parse = (text: string) => parseGuardedJson(text, LIMITS);

function problemOf(text: string): string {
  const parsed = parse(text);
  return parsed.ok ? 'accepted' : parsed.problem;
}

/** Reference implementation of what the guard refuses on purpose. */
function hasRefusedFeature(value: unknown): boolean {
  if (typeof value === 'string') return !isWellFormed(value);
  // Above 1e21 JSON.stringify writes an exponent, which is accepted as approximate.
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e21;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => {
    if (key === '__proto__' || !isWellFormed(key)) return true;
    if (key === 'constructor' && typeof member === 'object' && member !== null && !Array.isArray(member)) {
      if (Object.hasOwn(member, 'prototype')) return true;
    }
    return hasRefusedFeature(member);
  });
}

function isWellFormed(text: string): boolean {
  return !/[\ud800-\udfff]/u.test(text);
}

const documents = fc.oneof(
  fc.json({ maxDepth: 5 }),
  fc.json({ maxDepth: 5, stringUnit: 'binary' }),
  // Few distinct keys, so that the interesting ones meet.
  fc
    .letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.integer(), fc.constant('x'), tie('object'), tie('list')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(fc.constantFrom('constructor', 'prototype', 'a', 'b', '\n'), tie('value')),
    }))
    .value.map((value) => JSON.stringify(value)),
);

describe('parseGuardedJson', () => {
  it.each([
    'null',
    ' true ',
    'false',
    '0',
    '-0',
    '1.5e-3',
    '9007199254740991',
    '-9007199254740991',
    '1e30',
    '""',
    '"\\ud83d\\ude00"',
    '"😀"',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"',
    '[]',
    '{}',
    '[ [ ] , { } ]',
    '\t{\r\n"a" : 1 }',
    '{"constructor":1,"prototype":2}',
    '[{"constructor":1},{"prototype":2}]',
    '{"constructor":{"a":{"prototype":1}}}',
    '{"constructor":[{"prototype":1}]}',
    '{"a":{"b":1},"b":{"a":1}}',
    '0.12345678901234567890',
  ])('reads %s as JSON.parse does', (text) => {
    expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it.each([
    '',
    ' ',
    '{',
    '[',
    '[1',
    '[1,',
    '[1,]',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{1:1}',
    '[1}',
    '{"a":1]',
    ']',
    '}',
    '1 2',
    '[] []',
    '01',
    '-',
    '-a',
    '1.',
    '.5',
    '1e',
    '1e+',
    '+1',
    '0x10',
    'NaN',
    'Infinity',
    'nul',
    'truex',
    'undefined',
    '"',
    '"\\',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"\n"',
    '"\u0000"',
    '\ufeff1',
    '// a\n1',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '[1 2]',
    '\u00a01',
    '\u00001',
  ])('refuses %j, as JSON.parse does', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(parse(text).ok).toBe(false);
  });

  it.each([
    ['{"a":1,"a":1}', 'the key "a" appears twice in one object'],
    ['{"a":1,"\\u0061":1}', 'the key "a" appears twice in one object'],
    ['{"\\u0061":1,"a":1}', 'the key "a" appears twice in one object'],
    ['[{"x":{"k":1},"y":2,"x":3}]', 'the key "x" appears twice in one object'],
    ['{"__proto__":1}', 'the key "__proto__" is not allowed'],
    ['{"\\u005f_proto__":1}', 'the key "__proto__" is not allowed'],
    ['{"constructor":{"prototype":{}}}', 'the key "prototype" under "constructor" is not allowed'],
    [
      '{"a":[{"constructor":{"b":{},"protot\\u0079pe":{}}}]}',
      'the key "prototype" under "constructor" is not allowed',
    ],
    ['9007199254740993', 'a whole number that would lose digits: send it as a string'],
    ['9007199254740993e0', 'a whole number that would lose digits: send it as a string'],
    ['123456789012345678901e+2', 'a whole number that would lose digits: send it as a string'],
    ['9007199254740992', 'a whole number that would lose digits: send it as a string'],
    ['[-12345678901234567890.0]', 'a whole number that would lose digits: send it as a string'],
    ['1e999', 'a number too large to hold: send it as a string'],
    [`-${'9'.repeat(400)}`, 'a number too large to hold: send it as a string'],
    ['"\\ud83d"', 'half of a surrogate pair: it is no character, and cannot be stored as UTF-8'],
    ['"\\ude00\\ud83d"', 'half of a surrogate pair: it is no character, and cannot be stored as UTF-8'],
    ['"\ud83dx"', 'half of a surrogate pair: it is no character, and cannot be stored as UTF-8'],
    ['{"\\ud83d":1}', 'half of a surrogate pair: it is no character, and cannot be stored as UTF-8'],
  ])('refuses %s', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it('finds a repeated key among many', () => {
    const keys = Array.from({ length: 200 }, (_, place) => `"k${place}":${place}`);
    expect(problemOf(`{${keys.join()}}`)).toBe('accepted');
    expect(problemOf(`{${[...keys, '"k3":1'].join()}}`)).toContain('"k3" appears twice');
  });

  it('returns the position of the problem', () => {
    expect(parse('{\n  "a": 1,\n  "b": x\n}')).toMatchObject({
      problem: '"x" where a value should be',
      offset: 19,
      line: 3,
      column: 8,
    });
    expect(parse('[1,\n')).toMatchObject({
      problem: 'the text ends where a value should be',
      line: 2,
      column: 1,
    });
    expect(parse('{"a":1,"a":2}')).toMatchObject({ offset: 7, line: 1, column: 8 });
  });

  it('accepts nesting and values up to the limit and no further', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(scanJson(nested(64), LIMITS)).toBeNull();
    expect(scanJson(nested(65), LIMITS)?.problem).toBe('nested more than 64 deep');
    expect(scanJson('[1,2,3]', { depth: 9, values: 4 })).toBeNull();
    expect(scanJson('[1,2,3]', { depth: 9, values: 3 })?.problem).toBe('more than 3 values');
  });

  it('returns at once for a million brackets, also where depth is not limited', () => {
    const text = '['.repeat(1_000_000);
    expect(scanJson(text, LIMITS)).toMatchObject({ offset: 64 });
    expect(scanJson(text, { depth: 2_000_000, values: 2_000_000 })?.problem).toContain('the text ends');
    expect(scanJson('{"a":'.repeat(200_000), LIMITS)).toMatchObject({ offset: 320 });
  });

  it('agrees with JSON.parse on every document without the refused features', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const value: unknown = JSON.parse(text);
        const parsed = parse(text);
        if (hasRefusedFeature(value)) expect(parsed.ok).toBe(false);
        else expect(parsed).toEqual({ ok: true, value });
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws on a damaged document, and never accepts what JSON.parse refuses', () => {
    const damage = fc.tuple(
      documents,
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', 'e', '\\u', '\ud800', '\n'),
    );
    fc.assert(
      fc.property(damage, ([text, place, cut, insert]) => {
        const at = place % (text.length + 1);
        const damaged = text.slice(0, at) + insert + text.slice(at + cut);
        if (scanJson(damaged, LIMITS) === null) expect(() => JSON.parse(damaged)).not.toThrow();
        else expect(parse(damaged).ok).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  it('never throws on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => void parse(text)),
      { numRuns: 2_000 },
    );
  });
});
