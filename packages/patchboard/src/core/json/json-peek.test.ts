import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { peekTexts } from './json-peek.ts';

const peek = (text: string) => peekTexts(text, ['type', 'id']);

describe('peekTexts', () => {
  it.each([
    ['a whole object', '{"type":"a","id":"b"}', { type: 'a', id: 'b' }],
    ['space everywhere', ' { "type" : "a" , "id"\n:\t"b" } ', { type: 'a', id: 'b' }],
    [
      'a value that is too deep',
      `{"type":"a","out":${'['.repeat(999)}${']'.repeat(999)},"id":"b"}`,
      { type: 'a', id: 'b' },
    ],
    ['a value that is broken', '{"type":"a","out":tru,"id":"b"}', { type: 'a', id: 'b' }],
    ['a text that is cut off', '{"type":"a","id":"b","out":"never clo', { type: 'a', id: 'b' }],
    ['a member of an inner object', '{"out":{"id":"inner"},"type":"a"}', { type: 'a' }],
    ['a text that only looks like members', '{"out":"\\",\\"id\\":\\"x","type":"a"}', { type: 'a' }],
    ['a backslash at the end of a text', '{"out":"\\\\","id":"b"}', { id: 'b' }],
    ['a name that occurs twice', '{"id":"a","id":"b","type":"c"}', { type: 'c' }],
    ['a value that is no text', '{"id":7,"type":"c"}', { type: 'c' }],
    ['a value with an escape', '{"id":"\\u0061","type":"c"}', { type: 'c' }],
    ['a list', '[{"id":"a"}]', {}],
    ['nothing', '', {}],
    ['members after the end', '{"type":"a"}{"id":"b"}', { type: 'a' }],
  ])('reads %s', (_what, text, expected) => {
    expect(peek(text)).toEqual(expected);
  });

  it('agrees with JSON.parse wherever that accepts the text', () => {
    const plain = fc.string().filter((text) => JSON.stringify(text) === `"${text}"`);
    const object = fc.record({ a: fc.jsonValue(), id: plain, b: fc.jsonValue(), type: fc.jsonValue() });
    fc.assert(
      fc.property(object, (value) => {
        const { id, type } = peek(JSON.stringify(value));
        expect(id).toBe(value.id);
        if (type !== undefined) expect(type).toBe(value.type);
      }),
    );
  });

  it('never throws', () => {
    const fragments = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'id', ' ', '\u0000'));
    fc.assert(fc.property(fragments, (parts) => void peek(parts.join(''))));
  });
});
