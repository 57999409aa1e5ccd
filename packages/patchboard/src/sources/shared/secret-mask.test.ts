import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REDACTED } from '../../core/call/redaction.ts';
import type { Log } from '../../core/ports.ts';
import { SecretMask } from './secret-mask.ts';

const SECRET = 'tok-4f/9+q"7 ü?>z';

describe('SecretMask', () => {
  it('returns texts and values as they are when there are no secrets', () => {
    const mask = new SecretMask();
    const value = { a: ['password123'] };
    expect(mask.text('password123')).toBe('password123');
    expect(mask.value(value)).toBe(value);
  });

  it.each([
    ['itself', SECRET],
    ['JSON', JSON.stringify({ token: SECRET })],
    ['JSON in JSON', JSON.stringify({ body: JSON.stringify({ token: SECRET }) })],
    ['JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
    ['JSON in ASCII', JSON.stringify(SECRET).replaceAll('ü', '\\u00fc')],
    ['base64', Buffer.from(SECRET).toString('base64')],
    ['base64url', Buffer.from(SECRET).toString('base64url')],
    ['a path segment', `/x/${encodeURIComponent(SECRET)}/y`],
    [
      'a path segment with lower-case escapes',
      encodeURIComponent(SECRET).replaceAll(/%../g, (e) => e.toLowerCase()),
    ],
    ['a form', `a=b&token=${new URLSearchParams({ a: SECRET }).toString().slice(2)}`],
    ['a URL in a URL', `https://a.example/?to=${encodeURIComponent(`/?q=${encodeURIComponent(SECRET)}`)}`],
    ['JSON in a URL', `/?q=${encodeURIComponent(JSON.stringify({ token: SECRET }))}`],
    ['a URL', encodeURI(`https://example.com/?q=${SECRET}`)],
  ])('masks a value in %s', (_, text) => {
    const masked = new SecretMask([SECRET]).text(`before ${text} after`);
    expect(masked).toContain(REDACTED);
    expect(masked).not.toMatch(/tok-|dG9r/);
    expect(masked).toMatch(/^before .* after$/);
  });

  it.each(['a', 'ab', 'abc', 'abcd'])('masks a password in the Basic credentials of user %s', (user) => {
    const password = 'correct-horse';
    const credentials = Buffer.from(`${user}:${password}`).toString('base64');
    const masked = new SecretMask([password]).text(`Basic ${credentials}`);
    const rest = masked.replace(REDACTED, '').replace('Basic ', '');
    expect(masked).toContain(REDACTED);
    expect(rest.length).toBeLessThanOrEqual(Math.ceil(((user.length + 1) * 4) / 3) + 3);
    expect(new SecretMask([`${user}:${password}`]).text(`Basic ${credentials}`)).toBe(`Basic ${REDACTED}`);
  });

  it('masks the credentials of an Authorization header without their scheme, and what Basic encodes', () => {
    const basic = `Basic ${Buffer.from('user:correct-horse').toString('base64')}`;
    const mask = new SecretMask(['Bearer ghp_0123456789', basic]);
    expect(mask.text('token ghp_0123456789 refused')).toBe(`token ${REDACTED} refused`);
    expect(mask.text('password correct-horse refused')).toBe(`password ${REDACTED} refused`);
  });

  it('masks each line of a value that has several', () => {
    const key =
      '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\nAgEGCCqGSM49AwEHBG0w\n-----END PRIVATE KEY-----\n';
    expect(new SecretMask([key]).text('line 2: MIGHAgEAMBMGByqGSM49')).toBe(`line 2: ${REDACTED}`);
    expect(new SecretMask([key]).text(JSON.stringify({ key }))).toBe(`{"key":"${REDACTED}"}`);
  });

  it('leaves no beginning of a value at the end of a text that was cut', () => {
    const mask = new SecretMask([SECRET]);
    for (const text of [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET)])
      for (let length = 1; length < text.length; length += 1)
        expect([length, mask.cut(`${SECRET} = ${text.slice(0, length)}`)]).toEqual([
          length,
          `${REDACTED} = `,
        ]);
    const bytes = Buffer.from(`is ${SECRET}`);
    expect(mask.cut(bytes.subarray(0, bytes.indexOf('ü') + 1).toString())).toBe('is ');
    expect(mask.cut('nothing of it')).toBe('nothing of i');
    expect(new SecretMask().cut('nothing to mask')).toBe('nothing to mask');
  });

  it('does not mask values of fewer than 8 characters', () => {
    expect(new SecretMask(['passwor']).text('passwor')).toBe('passwor');
  });

  it('masks the longest of the values that begin at a place, and values that overlap together', () => {
    const mask = new SecretMask(['secret12', 'secret12345', '2345-tail']);
    expect(mask.text('(secret12345)')).toBe(`(${REDACTED})`);
    expect(mask.text('(secret12345-tail)')).toBe(`(${REDACTED})`);
    expect(mask.text('secret12secret12 secret12')).toBe(`${REDACTED}${REDACTED} ${REDACTED}`);
  });

  it('masks keys, numbers and nested strings, and leaves the rest alone', () => {
    const mask = new SecretMask(['password123', '12345678901']);
    const rest = { list: [1, null, true, Number.NaN, 'other'] };
    const value = { rest, deep: [{ password123: 'x', n: 12345678901, s: 'a password123' }] };
    const masked = mask.value(value) as typeof value;
    expect(masked).toEqual({ rest, deep: [{ [REDACTED]: 'x', n: REDACTED, s: `a ${REDACTED}` }] });
    expect(masked.rest).toBe(rest);
    expect(mask.value(rest)).toBe(rest);
  });

  it('keeps a member named __proto__ a member', () => {
    const value: unknown = JSON.parse('{"__proto__": {"a": "password123"}}');
    expect(JSON.stringify(new SecretMask(['password123']).value(value))).toBe(
      `{"__proto__":{"a":"${REDACTED}"}}`,
    );
  });

  it('replaces what is nested too deeply', () => {
    const text = `${'['.repeat(100_000)}"password123"${']'.repeat(100_000)}`;
    let value = new SecretMask(['password123']).value(JSON.parse(text));
    while (Array.isArray(value)) value = value[0];
    expect(value).toBe(REDACTED);
  });

  it('masks events and fields of a log', () => {
    const lines: unknown[] = [];
    const push = (event: string, fields?: object) => void lines.push([event, fields]);
    const log: Log = { info: push, warn: push, error: push };
    const masked = new SecretMask(['password123']).log(log);
    masked.info('password123');
    masked.warn('a', { b: ['password123'] });
    masked.error('a', { password123: 1 });
    expect(lines).toEqual([
      [REDACTED, undefined],
      ['a', { b: [REDACTED] }],
      ['a', { [REDACTED]: 1 }],
    ]);
  });

  it('masks values that are added later, also in logs made before', () => {
    const lines: unknown[] = [];
    const push = (event: string, fields?: object) => void lines.push(event, fields);
    const mask = new SecretMask(['password123']);
    const log = mask.log({ info: push, warn: push, error: push });
    mask.add(['renewed-token']);
    log.info('x', { a: 'renewed-token password123' });
    expect(lines).toEqual(['x', { a: `${REDACTED} ${REDACTED}` }]);
  });

  it('forgets values that are removed as often as they were added', () => {
    const mask = new SecretMask(['password123', 'renewed-token', 'renewed-token']);
    mask.remove(['renewed-token', 'never-added']);
    expect(mask.text('renewed-token')).toBe(REDACTED);
    mask.remove(['renewed-token']);
    expect(mask.text('renewed-token password123')).toBe(`renewed-token ${REDACTED}`);
  });

  it('masks a megabyte that is one repeated secret', () => {
    expect(new SecretMask(['aaaaaaaa']).text('a'.repeat(1_000_000))).toBe(REDACTED);
  });

  // Few different characters, among them those of the marker, so that values overlap each other and the marker.
  const unit = fc.constantFrom('a', 'b', '[', ']', 'd', 'r', '"', '\n', ' ', 'ü');
  const piece = fc.oneof(fc.string({ unit, maxLength: 12 }), fc.constant(REDACTED), fc.constant('redacted'));
  const secret = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));

  it('leaves none of the values in any text', () => {
    const secrets = fc.array(fc.oneof(secret, fc.string({ minLength: 8, unit: 'binary' })), { maxLength: 5 });
    const texts = secrets.chain((values) =>
      fc.tuple(
        fc.constant(values),
        fc.array(fc.oneof(piece, secret, fc.constantFrom('', ...values), fc.string()), { maxLength: 12 }),
      ),
    );
    fc.assert(
      fc.property(texts, ([values, pieces]) => {
        const mask = new SecretMask(values);
        const text = pieces.join('');
        const masked = mask.text(text);
        for (const value of values.filter(({ length }) => length >= 8)) {
          expect(masked).not.toContain(value);
          const encoded = Buffer.from(text + value).toString('base64url');
          expect(mask.text(encoded)).not.toBe(encoded);
          const json = JSON.stringify(mask.value({ [text]: [text] }));
          expect(
            Object.entries(JSON.parse(json) as object)
              .flat(2)
              .join('\0'),
          ).not.toContain(value);
        }
      }),
      { numRuns: 500 },
    );
  });
});
