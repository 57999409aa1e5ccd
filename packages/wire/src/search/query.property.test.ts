import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CALL_STATES } from '../call-state.ts';
import { reasonText } from '../reasons/reason-text.ts';
import type { CallQuery, MsRange, NamePatterns } from './call-query.ts';
import { formatCallQuery } from './format-query.ts';
import { parseCallQuery } from './parse-query.ts';
import { completionAt, insertCompletion } from './query-completion.ts';
import { CALL_QUERY_KEYS } from './query-keys.ts';
import { queryTerms, withQueryTerm } from './query-terms.ts';
import { durationText, momentText, parseDuration, parseMoment } from './query-time.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const PIECES =
  ': > >= < <= = ： - " \\ , * tol failed refused open 2s 1h 2026-01-01 99999999999999999999d now 北京 😀 \ud83d'
    .split(' ')
    .concat(' ', '　');

/** Pieces of the grammar in any order: more problems, and more queries, than random characters have. */
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(...CALL_QUERY_KEYS.map(({ name }) => name), ...PIECES),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));
const anyText = fc.oneof(pieces, fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 20 }));

const name = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.constantFrom('weather.*', 'a b', '-x', '"', ',', 'tool:x'),
  )
  .filter((text) => text.split('*').length < 9);
const names = (): fc.Arbitrary<NamePatterns> =>
  fc
    .record({
      any: fc.uniqueArray(name, { maxLength: 3 }),
      none: fc.uniqueArray(name, { maxLength: 3 }),
    })
    .filter(({ any, none }) => any.length + none.length > 0);
const range = (): fc.Arbitrary<MsRange> =>
  fc
    .tuple(
      fc.nat(10_000_000),
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.constantFrom('both', 'low', 'high'),
    )
    .map(([low, width, kind]) => ({
      ...(kind === 'high' ? {} : { atLeast: low }),
      ...(kind === 'low' ? {} : { below: low + width }),
    }));
const text = fc
  .string({ minLength: 1, maxLength: 12 })
  .map((given) => `${given}x`)
  .filter((given) => given.length < 20);
const shared = {
  tools: names(),
  agents: names(),
  codes: names(),
  traceId: name,
};
/** A member of a query that is missing here does not compile: it must be parsed and formatted. */
const members: Readonly<Record<Exclude<keyof CallQuery, 'isRefused'>, fc.Arbitrary<unknown>>> = {
  ...shared,
  states: fc
    .subarray([...CALL_STATES], { minLength: 1, maxLength: CALL_STATES.length - 1 })
    .map((states) => CALL_STATES.filter((state) => states.includes(state))),
  runId: name,
  parentCallId: name,
  clientId: name,
  waitedMs: range(),
  ranMs: range(),
  totalMs: range(),
  since: fc.integer({ min: 0, max: NOW }),
  until: fc.integer({ min: NOW + 1, max: 2 * NOW }),
  texts: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
};
const callQuery: fc.Arbitrary<CallQuery> = fc
  .record(members, { requiredKeys: [] })
  .map((query) => query as CallQuery);
const refusedQuery: fc.Arbitrary<CallQuery> = fc
  .record(shared, { requiredKeys: [] })
  .map((query) => ({ ...query, isRefused: true }) as CallQuery);

describe('any text', () => {
  it('is a query, or has problems with a sentence and a place inside the text', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        const parsed = parseCallQuery(given, NOW);
        if (parsed.ok) return;
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const problem of parsed.problems) {
          expect(problem.column).toBeGreaterThanOrEqual(1);
          expect(problem.length).toBeGreaterThanOrEqual(1);
          expect(problem.column - 1 + problem.length).toBeLessThanOrEqual(given.length);
          expect(reasonText(problem)).not.toBe('');
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('that is a query is the same query after formatting', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        const parsed = parseCallQuery(given, NOW);
        if (parsed.ok) expect(parseCallQuery(formatCallQuery(parsed.query), NOW)).toEqual(parsed);
      }),
      { numRuns: 3000 },
    );
  });

  it('is covered by its terms in order, and white space', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        let at = 0;
        for (const { column, length, values } of queryTerms(given)) {
          expect(given.slice(at, column - 1).trim()).toBe('');
          for (const value of values)
            expect(value.column - 1 + value.length).toBeLessThanOrEqual(column - 1 + length);
          at = column - 1 + length;
        }
        expect(given.slice(at).trim()).toBe('');
      }),
    );
  });

  it('can be completed at every place, by every option', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (given, cursor) => {
        const completion = completionAt(given, cursor);
        const { from, to } = completion;
        expect(0 <= from && from <= to && to <= given.length).toBe(true);
        for (const option of completion.options) {
          const inserted = insertCompletion(given, completion, option.text);
          expect(inserted.text.slice(from)).toContain(option.text);
          expect(inserted.cursor).toBeLessThanOrEqual(inserted.text.length);
        }
      }),
    );
  });

  it('loses and gets terms of one key', () => {
    fc.assert(
      fc.property(anyText, name, (given, value) => {
        const before = queryTerms(given).filter(({ key }) => key !== 'tool');
        expect(queryTerms(withQueryTerm(given, 'tool', null))).toHaveLength(before.length);
        if (given.includes('"')) return;
        expect(queryTerms(withQueryTerm(given, 'tool', [value])).at(-1)?.values[0]?.text).toBe(value);
      }),
    );
  });
});

describe('a query', () => {
  it('is read back as it was formatted', () => {
    fc.assert(
      fc.property(fc.oneof(callQuery, refusedQuery), (query) => {
        expect(parseCallQuery(formatCallQuery(query), NOW)).toEqual({ ok: true, query });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('durations and times', () => {
  it('are read back as they were formatted', () => {
    fc.assert(
      fc.property(fc.nat(3_650 * 86_400), fc.nat(999), (seconds, ms) => {
        const duration = Math.min(seconds * 1000 + ms, 3_650 * 86_400_000);
        expect(parseDuration(durationText(duration))).toBe(duration);
        expect(parseMoment(momentText(NOW - duration), NOW)).toBe(NOW - duration);
      }),
    );
  });
});
