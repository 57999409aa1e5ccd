import { CONSTANTS, FUNCTIONS, factorial } from './functions.ts';
import type { NumericFunction } from './functions.ts';
import { badExpression, noValue } from './problem.ts';
import { tokenize } from './tokens.ts';
import type { Token } from './tokens.ts';

export const MAX_EXPRESSION_LENGTH = 4096;
const MAX_DEPTH = 100;

const TERM_SIGNS: readonly string[] = ['+', '-'];
const FACTOR_SIGNS: readonly string[] = ['*', '/', '%'];
const POWER_SIGNS: readonly string[] = ['^', '**'];

/** Returns the finite value of an expression. Throws a `ToolFailure` with the position of the problem. */
export function evaluate(expression: string): number {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    throw badExpression(
      `the expression is longer than ${MAX_EXPRESSION_LENGTH} characters`,
      MAX_EXPRESSION_LENGTH,
    );
  }
  const value = new Evaluator(tokenize(expression)).run();
  return value === 0 ? 0 : value; // -0 has no meaning in JSON
}

/**
 * Recursive-descent evaluator with one method per level of precedence, from lowest to highest:
 * `+ -`, `* / %`, sign, power (right-associative), `!`, operand. Evaluates without building a syntax tree.
 */
class Evaluator {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  run(): number {
    const value = this.#sum();
    const rest = this.#peek();
    if (rest.kind !== 'end') throw unexpected(rest, 'an operator');
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (let sign = this.#take(TERM_SIGNS); sign !== undefined; sign = this.#take(TERM_SIGNS)) {
      const right = this.#product();
      value = finite(sign.text === '+' ? value + right : value - right, sign);
    }
    return value;
  }

  #product(): number {
    let value = this.#signed();
    for (let sign = this.#take(FACTOR_SIGNS); sign !== undefined; sign = this.#take(FACTOR_SIGNS)) {
      const right = this.#signed();
      if (right === 0 && sign.text !== '*') throw noValue('division by zero', sign.index);
      value = finite(multiplied(value, sign.text, right), sign);
    }
    return value;
  }

  #signed(): number {
    const sign = this.#take(TERM_SIGNS);
    if (sign === undefined) return this.#power();
    const value = this.#nested(sign, () => this.#signed());
    return sign.text === '-' ? -value : value;
  }

  #power(): number {
    const base = this.#postfix();
    const sign = this.#take(POWER_SIGNS);
    if (sign === undefined) return base;
    const exponent = this.#nested(sign, () => this.#signed());
    if (base === 0 && exponent < 0) throw noValue('division by zero', sign.index);
    return finite(base ** exponent, sign);
  }

  #postfix(): number {
    const value = this.#operand();
    const sign = this.#take(['!']);
    if (sign === undefined) return value;
    const product = factorial(value);
    if (Number.isFinite(product)) return product;
    throw noValue(`factorial needs a whole number from 0 to 170, not ${value},`, sign.index);
  }

  #operand(): number {
    const token = this.#peek();
    switch (token.kind) {
      case 'number':
        this.#next += 1;
        return token.value;
      case 'name':
        this.#next += 1;
        return this.#named(token);
      case 'symbol':
        if (token.text === '(') return this.#group(token);
        throw unexpected(token, "a number, a name or '('");
      case 'end':
        throw unexpected(token, "a number, a name or '('");
    }
  }

  #group(open: Token): number {
    this.#next += 1;
    const value = this.#nested(open, () => this.#sum());
    this.#close(open);
    return value;
  }

  #named(token: Token): number {
    const name = token.text.toLowerCase();
    const called = this.#peek().text === '(';
    const known = FUNCTIONS.get(name);
    if (known !== undefined) {
      if (called) return this.#call(token, known);
      throw badExpression(`expected '(' after ${token.text}`, this.#peek().index);
    }
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const what = called ? 'function' : 'name';
    throw badExpression(`unknown ${what} '${token.text}'`, token.index, KNOWN_NAMES);
  }

  #call(token: Token, known: NumericFunction): number {
    const open = this.#peek();
    this.#next += 1;
    const values = this.#nested(open, () => this.#list());
    this.#close(open);
    if (values.length < known.min || values.length > known.max) {
      throw badExpression(`${token.text} takes ${countOf(known)}, not ${values.length},`, token.index);
    }
    const value = known.apply(values);
    if (Number.isFinite(value)) return value;
    throw noValue(`${token.text}(${values.slice(0, 3).join(', ')}) has no finite real value`, token.index);
  }

  #list(): number[] {
    const values: number[] = [];
    if (this.#peek().text === ')') return values;
    do values.push(this.#sum());
    while (this.#take([',']) !== undefined);
    return values;
  }

  #close(open: Token): void {
    if (this.#take([')']) !== undefined) return;
    throw unexpected(this.#peek(), `an operator or the ')' for position ${open.index + 1}`);
  }

  /** Bounds the depth: every recursion goes through here, so that no expression can exhaust the stack. */
  #nested<Value>(at: Token, read: () => Value): Value {
    if (this.#depth === MAX_DEPTH) throw badExpression(`nested more than ${MAX_DEPTH} deep`, at.index);
    this.#depth += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #take(symbols: readonly string[]): Token | undefined {
    const token = this.#peek();
    if (token.kind !== 'symbol' || !symbols.includes(token.text)) return undefined;
    this.#next += 1;
    return token;
  }

  #peek(): Token {
    // The list ends with `end`, which is never consumed.
    return this.#tokens[this.#next] ?? { kind: 'end', text: '', index: 0 };
  }
}

const KNOWN_NAMES = `known: ${[...CONSTANTS.keys(), ...FUNCTIONS.keys()].join(', ')}`;

function multiplied(left: number, sign: string, right: number): number {
  if (sign === '*') return left * right;
  return sign === '/' ? left / right : left % right;
}

function finite(value: number, sign: Token): number {
  if (Number.isFinite(value)) return value;
  throw noValue(
    Number.isNaN(value) ? `'${sign.text}' has no real value` : `the result of '${sign.text}' is too large`,
    sign.index,
  );
}

function countOf(known: NumericFunction): string {
  if (known.max === Number.POSITIVE_INFINITY) return `${known.min} or more arguments`;
  const count = known.min === known.max ? `${known.min}` : `${known.min} or ${known.max}`;
  return `${count} ${known.max === 1 ? 'argument' : 'arguments'}`;
}

function unexpected(token: Token, wanted: string): Error {
  if (token.kind === 'end') return badExpression(`unexpected end, expected ${wanted},`, token.index);
  const startsOperand = token.kind !== 'symbol' || token.text === '(';
  const problem = `unexpected '${token.text}', expected ${wanted},`;
  if (token.text === ',') {
    return badExpression(problem, token.index, 'write 1000, not 1,000: a comma separates arguments');
  }
  if (!startsOperand) return badExpression(problem, token.index);
  return badExpression(problem, token.index, "write '*' between factors: 2*pi, not 2pi");
}
