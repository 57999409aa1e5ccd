import { describe, expect, it } from 'vitest';
import { ConfigError } from './config-file.ts';
import { operatorTokensOf } from './operator-tokens.ts';
import { storeSettings } from './store-settings.ts';

const SQLITE = { kind: 'sqlite' } as const;
const FIRST = 'a-token-of-exactly-32-characters';
const SECOND = `${FIRST}-and-more`;

function tokens(PATCHBOARD_OPERATOR_TOKEN: string): readonly string[] | null {
  return operatorTokensOf({ PATCHBOARD_OPERATOR_TOKEN }, SQLITE);
}

describe('PATCHBOARD_OPERATOR_TOKEN', () => {
  it('holds one token, or two during a rotation', () => {
    expect(tokens(FIRST)).toEqual([FIRST]);
    expect(tokens(`${SECOND},${FIRST}`)).toEqual([SECOND, FIRST]);
    expect(tokens(`${SECOND}, ${FIRST}\n`)).toEqual([SECOND, FIRST]);
  });

  it('may be absent, and empty counts as absent', () => {
    expect(operatorTokensOf({}, SQLITE)).toBeNull();
    expect(tokens('')).toBeNull();
  });

  it('is required with PostgreSQL', () => {
    const store = storeSettings({ DATABASE_URL: 'postgres://me:hidden@db/board' }, null);
    expect(operatorTokensOf({ PATCHBOARD_OPERATOR_TOKEN: FIRST }, store)).toEqual([FIRST]);
    const message =
      'PATCHBOARD_OPERATOR_TOKEN is not set: with PostgreSQL it must hold a token of at least 32 characters, such as the output of: openssl rand -hex 32';
    for (const given of [{}, { PATCHBOARD_OPERATOR_TOKEN: '' }])
      expect(() => operatorTokensOf(given, store)).toThrow(new ConfigError(message));
  });

  it.each([
    [FIRST.slice(1), 'must hold a token of at least 32 characters'],
    [`${FIRST},`, 'must hold a token of at least 32 characters'],
    [`${FIRST},short-and-secret`, 'must hold a token of at least 32 characters'],
    [`${FIRST},${SECOND},${FIRST}x`, 'holds 3 tokens separated by commas'],
    [`${FIRST} with spaces`, 'must consist of visible ASCII characters without spaces'],
    [`${FIRST}ü`, 'must consist of visible ASCII characters without spaces'],
    [`pb_${FIRST}`, 'must not begin with pb_, as keys do'],
  ])('%j is refused in one line that does not show it', (text, message) => {
    expect(() => tokens(text)).toThrow(ConfigError);
    expect(() => tokens(text)).toThrow(`PATCHBOARD_OPERATOR_TOKEN ${message}`);
    expect(() => tokens(text)).toThrow(expect.not.stringMatching(/a-token|short|\n/));
  });
});
