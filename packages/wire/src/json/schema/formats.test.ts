import { fullFormats } from 'ajv-formats/dist/formats.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORMATS } from './formats.ts';

type Check = (text: string) => boolean;

function isValid(format: string, text: unknown): boolean | undefined {
  return FORMATS.get(format)?.validate(text as never);
}

function reference(name: string): Check {
  const format: unknown = fullFormats[name as keyof typeof fullFormats];
  if (format instanceof RegExp) return (text) => format.test(text);
  return typeof format === 'function' ? (format as Check) : (format as { validate: Check }).validate;
}

const digits = (low: number, high: number) => fc.integer({ min: low, max: high }).map(String);
const two = fc.oneof(digits(0, 70), fc.constant('00')).map((text) => text.padStart(2, '0'));
const glued = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));
const piecesOf = (...pieces: string[]) =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map((texts) => texts.join(''));
const year = fc.constantFrom('1900', '2000', '2023', '2024', '20');
const dates = glued(year, fc.constant('-'), two, fc.constant('-'), two);
// The reference takes some times with the hour 24 or the minute 60 as leap seconds.
const hours = fc.oneof(digits(0, 23), fc.constant('23')).map((text) => text.padStart(2, '0'));
const minutes = fc.oneof(digits(0, 59), fc.constant('59')).map((text) => text.padStart(2, '0'));
const times = glued(
  hours,
  fc.constant(':'),
  minutes,
  fc.constant(':'),
  fc.oneof(two, fc.constantFrom('59', '60', '60.5')),
  fc.constantFrom('', '.5', '.'),
  fc.constantFrom('Z', 'z', '', '+', '+01', '-01:00', '+05:30', '-0530', '+24:00', '+23:59'),
);
const URI_PIECES = [
  'a',
  'b:',
  'http:',
  '/',
  '//d',
  '?',
  '#',
  '@',
  ':',
  '80',
  '.',
  '%41',
  '%4',
  '[',
  ']',
  '[::1]',
  'é',
];
const MATERIAL: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date: dates,
  time: times,
  'date-time': glued(dates, fc.constantFrom('T', 't', ' ', 'x', ''), times),
  duration: piecesOf('P', 'T', '1', '23', 'Y', 'M', 'D', 'H', 'S', 'W').map((text) => `P${text}`),
  'uri-template': piecesOf('a', '/', '{', '}', '{b}', '{?c,d*}', '{+e:3}', '%20', '%2', '{{', ':0', '"', ' '),
  email: piecesOf('a', 'b', '.', '@', '-', '+', 'c.de', '_', ' ', 'é').map((text) => `${text}@a.example`),
  hostname: piecesOf('a', 'b1', '.', '-', '..', 'c'.repeat(63), 'd'.repeat(64), '_'),
  ipv4: fc
    .array(fc.oneof(digits(0, 300), fc.constant('01')), { minLength: 3, maxLength: 5 })
    .map((all) => all.join('.')),
  ipv6: piecesOf('1', 'ab', ':', '::', 'ffff:', '2:', '3:4:', '1.2.3.4', '12345', 'g'),
  uuid: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => `urn:uuid:${id}`),
    fc.uuid().map((id) => id.slice(1)),
  ),
  'json-pointer': piecesOf('/', 'a', '~', '~0', '~1', ' '),
  'relative-json-pointer': piecesOf('0', '1', '/', 'a', '#', '~', '~0'),
  uri: piecesOf(...URI_PIECES),
  'uri-reference': piecesOf(...URI_PIECES),
};

describe('formats', () => {
  it.each(Object.keys(MATERIAL))('%s accepts what ajv-formats accepts', (format) => {
    const check = reference(format);
    fc.assert(
      fc.property(MATERIAL[format] ?? fc.constant(''), (text) => {
        expect(isValid(format, text)).toBe(check(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['date-time', '2016-12-31T23:59:60Z', true],
    ['date-time', '2016-12-31T18:29:60-05:30', true],
    ['date-time', '2016-12-31T23:58:60Z', false],
    ['time', '24:00:00Z', false],
    ['time', '12:60:00Z', false],
    ['date', '2023-02-29', false],
    ['uri', 'https://user@[2001:db8::1]:8080/a/b?c=d#e', true],
    ['uri', 'https://[2001:db8::1::2]/', false],
    ['uri', 'https://[v1.a:b]/', true],
    ['uri', '/relative', false],
    ['uri', 'mailto:a@b.co', true],
    ['uri-reference', '/relative?a#b', true],
    ['uri-reference', 'a"b', false],
    ['int32', -2_147_483_648, true],
    ['int32', -2_147_483_649, false],
  ])('%s of %j: %j', (format, text, isExpected) => {
    expect(isValid(format, text)).toBe(isExpected);
  });

  it.each([...FORMATS.keys()])('%s checks a text without a match in linear time', (format) => {
    for (const piece of [':', 'a', '0', '/', 'a.', '%41', '{a', '~0', '1:', 'a@'])
      expect(isValid(format, `${piece.repeat(4_000).slice(0, 4_095)}\u0000`)).toBeTypeOf('boolean');
  });
});
