import { reason } from '@patchboard/wire';
import { badExpression } from './problem.ts';

export type Token =
  | { readonly kind: 'number'; readonly text: string; readonly index: number; readonly value: number }
  | { readonly kind: 'name'; readonly text: string; readonly index: number }
  | { readonly kind: 'symbol'; readonly text: string; readonly index: number }
  | { readonly kind: 'end'; readonly text: string; readonly index: number };

const NUMBER = /0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*|π|τ/y;
const SYMBOL = /\*\*|[-+*/%^!(),]/y;
const SPACE = /\s+/y;

const TYPOGRAPHIC: ReadonlyMap<string, string> = new Map([
  ['×', '*'],
  ['·', '*'],
  ['⋅', '*'],
  ['∗', '*'],
  ['÷', '/'],
  ['∕', '/'],
  ['−', '-'],
  ['–', '-'],
]);

/** Splits an expression into tokens; the last one is always `end`. */
export function tokenize(given: string): readonly Token[] {
  const text = withPlainSigns(given);
  const tokens: Token[] = [];
  let index = 0;
  while (index < text.length) {
    const space = matchAt(SPACE, text, index);
    if (space !== undefined) {
      index += space.length;
      continue;
    }
    const token = readToken(text, index);
    tokens.push(token);
    index += token.text.length;
  }
  tokens.push({ kind: 'end', text: '', index: text.length });
  return tokens;
}

function readToken(text: string, index: number): Token {
  const number = matchAt(NUMBER, text, index);
  if (number !== undefined) return numberToken(number, index);
  const name = matchAt(NAME, text, index);
  if (name !== undefined) return { kind: 'name', text: name, index };
  const symbol = matchAt(SYMBOL, text, index);
  if (symbol !== undefined) return { kind: 'symbol', text: symbol, index };
  throw badExpression(
    reason('expression_unexpected', { found: quoted(String.fromCodePoint(text.codePointAt(index) ?? 0)) }),
    index,
  );
}

function numberToken(text: string, index: number): Token {
  const value = Number(text);
  if (!Number.isFinite(value)) throw badExpression(reason('number_too_large'), index);
  return { kind: 'number', text, index, value };
}

/** Replaces typographic signs one to one, so that positions still refer to the given text. */
function withPlainSigns(text: string): string {
  return text.replace(/[×·⋅∗÷∕−–\uff01-\uff5e]/g, (sign) => {
    // Full-width forms of ASCII have a fixed offset from the plain characters.
    return TYPOGRAPHIC.get(sign) ?? String.fromCharCode(sign.charCodeAt(0) - 0xfee0);
  });
}

function matchAt(pattern: RegExp, text: string, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
}

/** Quotes a character of the caller's text; invisible ones are shown as code points. */
function quoted(character: string): string {
  if (/[\p{L}\p{N}\p{P}\p{S}]/u.test(character)) return `'${character}'`;
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
