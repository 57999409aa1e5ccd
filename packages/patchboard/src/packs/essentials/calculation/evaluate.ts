import { reason, type Reason } from '@patchboard/wire';
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
      reason('expression_too_long', { count: MAX_EXPRESSION_LENGTH }),
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
    if (rest.kind !== 'end') throw unexpected(rest, reason('wanted_operator'));
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
      if (right === 0 && sign.text !== '*') throw noValue(reason('division_by_zero'), sign.index);
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
    if (base === 0 && exponent < 0) throw noValue(reason('division_by_zero'), sign.index);
    return finite(base ** exponent, sign);
  }

  #postfix(): number {
    const value = this.#operand();
    const sign = this.#take(['!']);
    if (sign === undefined) return value;
    const product = factorial(value);
    if (Number.isFinite(product)) return product;
    throw noValue(reason('factorial_range', { value }), sign.index);
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
        throw unexpected(token, reason('wanted_operand'));
      case 'end':
        throw unexpected(token, reason('wanted_operand'));
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
      throw badExpression(reason('expression_needs_open', { name: token.text }), this.#peek().index);
    }
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const what = called ? 'function' : 'name';
    const why = reason(`expression_${what}_unknown`, { name: token.text });
    throw badExpression(why, token.index, KNOWN_NAMES);
  }

  #call(token: Token, known: NumericFunction): number {
    const open = this.#peek();
    this.#next += 1;
    const values = this.#nested(open, () => this.#list());
    this.#close(open);
    if (values.length < known.min || values.length > known.max) {
      throw badExpression(wrongCount(token.text, known, values.length), token.index);
    }
    const value = known.apply(values);
    if (Number.isFinite(value)) return value;
    throw noValue(
      reason('function_not_finite', { call: `${token.text}(${values.slice(0, 3).join(', ')})` }),
      token.index,
    );
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
    throw unexpected(this.#peek(), reason('wanted_operator_or_close', { position: open.index + 1 }));
  }

  /** Bounds the depth: every recursion goes through here, so that no expression can exhaust the stack. */
  #nested<Value>(at: Token, read: () => Value): Value {
    if (this.#depth === MAX_DEPTH)
      throw badExpression(reason('json_too_deep', { depth: MAX_DEPTH }), at.index);
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
    reason(Number.isNaN(value) ? 'operator_not_real' : 'operator_too_large', { sign: sign.text }),
    sign.index,
  );
}

function wrongCount(name: string, { min: least, max: most }: NumericFunction, count: number): Reason {
  if (most === Number.POSITIVE_INFINITY) return reason('expression_arguments_least', { name, least, count });
  if (least === most) return reason('expression_arguments_exact', { name, least, count });
  return reason('expression_arguments_either', { name, least, most, count });
}

function unexpected(token: Token, what: Reason): Error {
  const wanted = [what];
  if (token.kind === 'end') return badExpression(reason('expression_ends', { wanted }), token.index);
  const startsOperand = token.kind !== 'symbol' || token.text === '(';
  const problem = reason('expression_unexpected_expected', { found: token.text, wanted });
  if (token.text === ',') {
    return badExpression(problem, token.index, 'write 1000, not 1,000: a comma separates arguments');
  }
  if (!startsOperand) return badExpression(problem, token.index);
  return badExpression(problem, token.index, "write '*' between factors: 2*pi, not 2pi");
}
