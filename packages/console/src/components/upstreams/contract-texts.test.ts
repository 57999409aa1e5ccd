import { describe, expect, it } from 'vitest';
import { textsOf } from './contract-texts.ts';

describe('a difference of a contract', () => {
  it('shows two texts line by line, as they are', () => {
    expect(textsOf({ path: '/description', before: 'Finds.\nOne', after: 'Finds.\nTwo' })).toEqual({
      kind: 'replaced',
      before: 'Finds.\nOne',
      after: 'Finds.\nTwo',
    });
  });

  it('tells a number from the text of it', () => {
    expect(textsOf({ path: '/inputSchema/default', before: 1, after: '1' })).toEqual({
      kind: 'replaced',
      before: '1',
      after: '"1"',
    });
  });

  it('has no text on the side that does not exist, also where the value is null', () => {
    expect(textsOf({ path: '/outputSchema', after: null })).toEqual({
      kind: 'added',
      before: '',
      after: 'null',
    });
    expect(textsOf({ path: '/inputSchema/properties/a', before: { type: 'string' } })).toEqual({
      kind: 'removed',
      before: '{\n  "type": "string"\n}',
      after: '',
    });
  });
});
