import { SECRET_PREFIX } from '../core/access/key-index.ts';
import { MIN_TOKEN_CHARACTERS } from '../identity/operator-token.ts';
import { ConfigError } from './config-file.ts';
import { givenOperatorTokens, type Environment } from './environment.ts';
import type { StoreSettings } from './store-settings.ts';

const MAX_TOKENS = 2;
const TOO_SHORT = `must hold a token of at least ${MIN_TOKEN_CHARACTERS} characters, such as the output of: openssl rand -hex 32`;
/** What a client can send after `Authorization: Bearer `. */
const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Returns the operator tokens of `PATCHBOARD_OPERATOR_TOKEN`: one, or two during a rotation. Null if it is not set, which is
 * refused with PostgreSQL. Throws a `ConfigError` that never contains a token.
 */
export function operatorTokensOf(given: Environment, { kind }: StoreSettings): readonly string[] | null {
  const tokens = givenOperatorTokens(given);
  if (tokens === null) {
    if (kind === 'sqlite') return null;
    throw new ConfigError(`PATCHBOARD_OPERATOR_TOKEN is not set: with PostgreSQL it ${TOO_SHORT}`);
  }
  const problem = tokens.length > MAX_TOKENS ? tooMany(tokens.length) : tokens.map(problemOf).find(isText);
  if (problem === undefined) return tokens;
  throw new ConfigError(`PATCHBOARD_OPERATOR_TOKEN ${problem}`);
}

function tooMany(count: number): string {
  return `holds ${count} tokens separated by commas: set one, or the new and the old one during a rotation`;
}

function problemOf(token: string): string | undefined {
  if (token.length < MIN_TOKEN_CHARACTERS) return TOO_SHORT;
  if (!VISIBLE.test(token)) return 'must consist of visible ASCII characters without spaces';
  return token.startsWith(SECRET_PREFIX)
    ? `must not begin with ${SECRET_PREFIX}, as keys do: choose another token`
    : undefined;
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}
