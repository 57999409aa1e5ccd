import { reason, reasonsText } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { anything, flag, object, oneOf, oneOrMore, someOf, text, texts, wholeNumber } from './shape.ts';
import type { Rule } from './shape.ts';

const shape = object<{ name: string; tags: string[]; timeout: number; inner: object }>({
  name: text,
  tags: texts,
  timeout: wholeNumber(1),
  inner: object<{ parallel: boolean; serial: boolean }>({ parallel: flag, serial: anything }),
});

function problemOf(rule: Rule, value: unknown, place: string): string {
  return reasonsText(rule(value, place) ?? []);
}

describe('a shape', () => {
  it('accepts a valid value, with members omitted or undefined', () => {
    expect(shape({}, '')).toBeNull();
    expect(shape({ name: 'x', tags: undefined, inner: { parallel: true } }, '')).toBeNull();
  });

  it.each<[unknown, string]>([
    [null, 'this must be an object; it is null'],
    [[], 'this must be an object; it is a list'],
    [{ nmae: 'x' }, 'nmae is not known; did you mean name?'],
    [{ TIMEOUT: 1 }, 'TIMEOUT is not known; did you mean timeout?'],
    [{ colour: 'x' }, 'colour is not known; known are name, tags, timeout, inner'],
    [{ name: 7 }, 'name must be a text; it is 7'],
    [{ tags: 'a.*' }, "tags must be a list: write ['a.*']"],
    [{ tags: 7 }, 'tags must be a list of texts; it is 7'],
    [{ tags: ['a', 1] }, 'tags[1] must be a text; it is 1'],
    [{ timeout: 0.5 }, 'timeout must be a whole number of at least 1; it is 0.5'],
    [{ timeout: '5' }, "timeout must be a whole number of at least 1; it is '5'"],
    [{ inner: { paralel: true } }, 'inner.paralel is not known; did you mean parallel?'],
    [{ inner: { parallel: () => 1 } }, 'inner.parallel must be true or false; it is a function'],
  ])('says what is wrong with %j, where, and what to do', (given, problem) => {
    expect(problemOf(shape, given, '')).toBe(problem);
  });

  it('returns what is wrong as data, with the place and the value', () => {
    const problem = [reason('must_be_boolean')];
    const found = [reason('value_is_list')];
    expect(shape({ inner: { parallel: [] } }, '')).toEqual([
      reason('value_problem', { place: 'inner.parallel', problem, found }),
    ]);
  });

  it('does not accept members inherited from Object', () => {
    expect(problemOf(shape, { toString: 1 }, 'x')).toBe(
      'x.toString is not known; known are name, tags, timeout, inner',
    );
  });

  it('names a value that is not allowed', () => {
    expect(problemOf(oneOf(['en', 'zh']), 'fr', 'language')).toBe("language is 'fr'; known are en, zh");
    expect(problemOf(oneOf(['en', 'zh']), 1, 'language')).toBe('language is 1; it must be one of en, zh');
    expect(problemOf(someOf(['progress', 'control']), ['control', 'progres'], 'channels')).toBe(
      "channels[1] is 'progres'; did you mean progress?",
    );
    expect(problemOf(oneOrMore(text), ['a', null], 'names')).toBe('names[1] must be a text; it is null');
  });
});
