import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../core/failures.ts';
import { buildRequest } from './build-request.ts';
import type { Operation, OperationParameter } from './operation.ts';

const SERVER = new URL('https://api.example/v1');
const ANY_TEXT = fc.string({ unit: 'binary', maxLength: 12 });
const TEXT = ANY_TEXT.filter((text) => text !== '');
/** Names that a receiver can tell from others: no integers, which objects move to the front. */
const KEY = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 6 })
  .filter((key) => !/^\d+$/.test(key) && key !== '__proto__');
const ITEMS = fc.array(TEXT, { minLength: 1, maxLength: 5 });
const MEMBERS = fc.dictionary(KEY, TEXT, { minKeys: 1, maxKeys: 4, noNullPrototype: true });

function built(
  given: Partial<OperationParameter> & Pick<OperationParameter, 'in' | 'style'>,
  value: unknown,
): URL {
  return new URL(requestOf(given, value).url);
}

function requestOf(
  given: Partial<OperationParameter> & Pick<OperationParameter, 'in' | 'style'>,
  value: unknown,
): ReturnType<typeof buildRequest> {
  const parameter = { name: 'p', argument: 'p', explode: false, allowReserved: false, ...given };
  const path = given.in === 'path' ? '/a/{p}/z' : '/a';
  const operation: Operation = { method: 'GET', path, parameters: [parameter], body: null, security: [] };
  return buildRequest(operation, { p: value }, SERVER);
}

/** Null if the arguments were refused. */
function orRefused<Value>(run: () => Value): Value | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof ToolFailure && error.failure.code === 'input_invalid') return null;
    throw error;
  }
}

/** Runs `check` with the URL for each value that was not refused. */
function holdsFor<Value>(
  values: fc.Arbitrary<Value>,
  given: Partial<OperationParameter> & Pick<OperationParameter, 'in' | 'style'>,
  check: (url: URL, value: Value) => void,
): void {
  fc.assert(
    fc.property(values, (value) => {
      const url = orRefused(() => built(given, value));
      if (url !== null) check(url, value);
    }),
    { numRuns: 300 },
  );
}

function segment(url: URL): string {
  const [empty, prefix, a, middle = '', z, ...rest] = url.pathname.split('/');
  expect([empty, prefix, a, z, rest]).toEqual(['', 'v1', 'a', 'z', []]);
  return middle;
}

function decoded(parts: readonly string[]): string[] {
  return parts.map(decodeURIComponent);
}

function pairsOf(parts: readonly string[], delimiter = '='): Record<string, string> {
  return Object.fromEntries(parts.map((part) => decoded(part.split(delimiter)) as [string, string]));
}

function chunked(flat: readonly string[]): Record<string, string> {
  const pairs = flat.flatMap((key, at) => (at % 2 === 0 ? [[key, flat[at + 1]]] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** The raw value of `p`. */
function rawQuery(url: URL): string {
  expect(url.search.startsWith('?p=')).toBe(true);
  return url.search.slice('?p='.length);
}

describe('a path value', () => {
  it.each(['simple', 'label', 'matrix'])('never leaves its segment (style %s)', (style) => {
    const pieces = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      '?',
      '#',
      '%2e',
      '%2f',
      ';',
      '\t',
      '\n',
      '@',
      ':',
      'x',
    );
    const hostile = fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join(''));
    for (const explode of [true, false])
      holdsFor(
        fc.oneof(hostile, fc.array(hostile, { maxLength: 3 }), ANY_TEXT),
        { in: 'path', style, explode },
        (url) => {
          expect(url.origin).toBe(SERVER.origin);
          expect(url.search + url.hash).toBe('');
          expect(segment(url)).not.toMatch(/^(?:\.|%2e){0,2}$/i);
        },
      );
  });

  it('is decoded to what was given, in each style', () => {
    holdsFor(TEXT, { in: 'path', style: 'simple' }, (url, text) =>
      expect(decodeURIComponent(segment(url))).toBe(text),
    );
    holdsFor(ITEMS, { in: 'path', style: 'simple' }, (url, items) =>
      expect(decoded(segment(url).split(','))).toEqual(items),
    );
    holdsFor(MEMBERS, { in: 'path', style: 'simple' }, (url, members) =>
      expect(chunked(decoded(segment(url).split(',')))).toEqual(members),
    );
    holdsFor(MEMBERS, { in: 'path', style: 'simple', explode: true }, (url, members) =>
      expect(pairsOf(segment(url).split(','))).toEqual(members),
    );
    holdsFor(ITEMS, { in: 'path', style: 'label' }, (url, items) =>
      expect(decoded(segment(url).slice(1).split(','))).toEqual(items),
    );
    holdsFor(ITEMS, { in: 'path', style: 'matrix', explode: true }, (url, items) =>
      expect(decoded(segment(url).split(';p=').slice(1))).toEqual(items),
    );
    holdsFor(MEMBERS, { in: 'path', style: 'matrix', explode: true }, (url, members) =>
      expect(pairsOf(segment(url).split(';').slice(1))).toEqual(members),
    );
  });
});

describe('a query value', () => {
  it('is decoded to what was given, in each style', () => {
    holdsFor(ANY_TEXT, { in: 'query', style: 'form', explode: true }, (url, text) =>
      expect([...url.searchParams]).toEqual([['p', text]]),
    );
    holdsFor(ITEMS, { in: 'query', style: 'form', explode: true }, (url, items) =>
      expect(url.searchParams.getAll('p')).toEqual(items),
    );
    holdsFor(MEMBERS, { in: 'query', style: 'form', explode: true }, (url, members) =>
      expect(Object.fromEntries(url.searchParams)).toEqual(members),
    );
    holdsFor(ITEMS, { in: 'query', style: 'form' }, (url, items) =>
      expect(decoded(rawQuery(url).split(','))).toEqual(items),
    );
    holdsFor(MEMBERS, { in: 'query', style: 'form' }, (url, members) =>
      expect(chunked(decoded(rawQuery(url).split(',')))).toEqual(members),
    );
    holdsFor(ITEMS, { in: 'query', style: 'spaceDelimited' }, (url, items) =>
      expect(decoded(rawQuery(url).split('%20'))).toEqual(items),
    );
    holdsFor(ITEMS, { in: 'query', style: 'pipeDelimited' }, (url, items) =>
      expect(decoded(rawQuery(url).split('%7C'))).toEqual(items),
    );
  });

  it('with allowReserved adds no pair and no fragment', () => {
    for (const explode of [true, false])
      holdsFor(TEXT, { in: 'query', style: 'form', explode, allowReserved: true }, (url, text) => {
        expect([...url.searchParams]).toEqual([['p', text]]);
        expect(url.hash).toBe('');
      });
  });

  it('as a deep object is decoded member by member', () => {
    const nested = fc.dictionary(KEY, fc.oneof(TEXT, MEMBERS), {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    });
    holdsFor(nested, { in: 'query', style: 'deepObject', explode: true }, (url, value) => {
      const leaves = Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === 'string'
          ? [[`p[${key}]`, inner]]
          : Object.entries(inner).map(([sub, text]) => [`p[${key}][${sub}]`, text]),
      );
      expect([...url.searchParams]).toEqual(leaves);
    });
  });

  it('described by content is decoded as JSON', () => {
    holdsFor(
      fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null),
      { in: 'query', style: 'form', mediaType: 'application/json' },
      (url, value) =>
        expect(JSON.parse(url.searchParams.get('p') ?? '')).toEqual(JSON.parse(JSON.stringify(value))),
    );
  });
});

describe('a header or cookie', () => {
  const hostile = fc.array(fc.constantFrom('\r', '\n', '\0', 'a', ': ', ';', ',', '=', 'é', '\u2028'), {
    maxLength: 8,
  });

  it('never begins another header, whatever the value', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          hostile.map((parts) => parts.join('')),
          hostile,
          ANY_TEXT,
        ),
        fc.boolean(),
        (value, explode) => {
          const request = orRefused(() => requestOf({ in: 'header', style: 'simple', explode }, value));
          for (const [name, text] of Object.entries(request?.headers ?? {})) {
            expect(name).toBe('p');
            expect(text).toMatch(/^[\t\x20-\x7e]*$/);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('as a header is decoded to what was given', () => {
    const items = fc.array(fc.stringMatching(/^[!-+.-~-]{1,8}$/), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(items, (value) => {
        const { headers } = requestOf({ in: 'header', style: 'simple' }, value);
        expect(headers['p']?.split(',')).toEqual(value);
      }),
    );
  });

  it('as a cookie is decoded to what was given', () => {
    fc.assert(
      fc.property(ANY_TEXT, (value) => {
        const cookie = orRefused(() => requestOf({ in: 'cookie', style: 'form', explode: true }, value))
          ?.headers['cookie'];
        if (cookie === undefined) return;
        expect(cookie.split('; ').map((pair) => decodeURIComponent(pair))).toEqual([`p=${value}`]);
      }),
    );
  });
});
