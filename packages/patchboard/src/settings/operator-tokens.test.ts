import { describe, expect, it } from 'vitest';
import { ConfigError } from './config-file.ts';
import { operatorTokensOf } from './operator-tokens.ts';

const FIRST = 'a-token-of-exactly-32-characters';
const SECOND = `${FIRST}-and-more`;

function tokens(PATCHBOARD_OPERATOR_TOKEN: string): readonly string[] | null {
  return operatorTokensOf({ PATCHBOARD_OPERATOR_TOKEN });
}

describe('PATCHBOARD_OPERATOR_TOKEN', () => {
  it('holds one token, or two during a rotation', () => {
    expect(tokens(FIRST)).toEqual([FIRST]);
    expect(tokens(`${SECOND},${FIRST}`)).toEqual([SECOND, FIRST]);
    expect(tokens(`${SECOND}, ${FIRST}\n`)).toEqual([SECOND, FIRST]);
  });

  it('may be absent, and empty counts as absent', () => {
    expect(operatorTokensOf({})).toBeNull();
    expect(tokens('')).toBeNull();
  });

  it.each([
    [FIRST.slice(1), 'must hold at least 32 characters for each token'],
    [`${FIRST},`, 'must hold at least 32 characters for each token'],
    [`${FIRST},short-and-secret`, 'must hold at least 32 characters for each token'],
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
