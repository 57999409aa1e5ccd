import { describe, expect, it } from 'vitest';
import { prefilledOf } from './start-value.ts';

describe('a form with nothing entered', () => {
  it('has the defaults and the only choices of required properties', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', default: 3 },
        kind: { const: 'trip' },
        isDirect: { $ref: '#/$defs/flag' },
      },
      required: ['kind', 'city'],
      $defs: { flag: { type: 'boolean', default: false } },
    };
    expect(JSON.parse(prefilledOf(schema))).toEqual({ days: 3, kind: 'trip', isDirect: false });
    expect(prefilledOf({ type: 'object' })).toBe('{}');
    expect(prefilledOf({ type: 'string', default: 'x' })).toBe('"x"');
  });
});
