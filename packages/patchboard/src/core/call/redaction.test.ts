import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REDACTED, Redactor } from './redaction.ts';

describe('Redactor', () => {
  it('hides named members at any depth and leaves everything else as it is', () => {
    const redactor = new Redactor(['password', 'API_Key']);
    const text = '{"user":"a","Password":{"deep":1},"list":[{"api_key":"k"},2]}';
    expect(redactor.json(text)).toBe(
      `{"user":"a","Password":"${REDACTED}","list":[{"api_key":"${REDACTED}"},2]}`,
    );
    expect(redactor.json('{"user":  "a"}')).toBe('{"user":  "a"}');
  });

  it('lets no planted secret through, does not touch its input, and is idle without names', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('password', 'PASSWORD'), (value, name) => {
        const planted = {
          before: value,
          [name]: 'planted-secret',
          inner: [{ [name]: { x: 'planted-secret' } }],
        };
        const copy = JSON.stringify(planted);
        expect(JSON.stringify(new Redactor(['password']).value(planted))).not.toContain('planted-secret');
        expect(JSON.stringify(planted)).toBe(copy);
        expect(new Redactor([]).value(planted)).toBe(planted);
      }),
    );
  });
});
