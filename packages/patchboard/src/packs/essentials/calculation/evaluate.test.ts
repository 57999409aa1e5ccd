import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ToolFailure } from '../../../core/failures.ts';
import type { Failure } from '../../../core/failures.ts';
import { evaluate } from './evaluate.ts';

describe('evaluate', () => {
  it.each([
    ['(3+4)*6', 42],
    ['1 + 2 * 3', 7],
    ['10 - 4 - 3', 3],
    ['2 * 3 / 4', 1.5],
    ['-2^2', -4],
    ['-2**2', -4],
    ['(-2)^2', 4],
    ['2^3^2', 512],
    ['2**-1', 0.5],
    ['2^-2^2', 2 ** -4],
    ['- -3', 3],
    ['+-+3', -3],
    ['3--3', 6],
    ['7 % 4', 3],
    ['-7 % 3', -1],
    ['mod(-7, 3)', 2],
    ['mod(7, -3)', -2],
    ['.5 + 1.', 1.5],
    ['1e3 + 1E-3', 1000.001],
    ['0xff + 0X10', 271],
    ['5!', 120],
    ['2^3!', 64],
    ['-3!', -6],
    ['0!', 1],
    ['factorial(20)', 2432902008176640000],
    ['pi', Math.PI],
    ['PI * 2', 2 * Math.PI],
    ['tau - 2*π', 0],
    ['ln(e)', 1],
    ['log(1000)', 3],
    ['log(8, 2)', 3],
    ['log(9, 3)', 2],
    ['log2(8) + log10(100)', 5],
    ['sqrt(2) * sqrt(2)', 2.0000000000000004],
    ['cbrt(-27)', -3],
    ['abs(-4)', 4],
    ['sin(0) + cos(0) + tan(0)', 1],
    ['atan2(1, 1) * 4', Math.PI],
    ['asin(1) + acos(1) + atan(0)', Math.PI / 2],
    ['sinh(0) + cosh(0) + tanh(0) + exp(0)', 2],
    ['asinh(0) + acosh(1) + atanh(0)', 0],
    ['floor(-1.5) + ceil(-1.5) + trunc(-1.5)', -4],
    ['round(2.5)', 3],
    ['round(-2.5)', -3],
    ['round(3.14159, 2)', 3.14],
    ['sign(-9) + sign(0) + sign(9)', 0],
    ['min(3, 1, 2) + max(3, 1, 2)', 4],
    ['hypot(3, 4)', 5],
    ['pow(2, 10)', 1024],
    ['6 × 7 ÷ 2 − 1', 20],
    ['（３＋４）＊６', 42],
    ['\t1\n+ 1 ', 2],
    ['0 * -1', 0],
    ['0.1 + 0.2', 0.30000000000000004],
  ])('%s is %d', (expression, value) => {
    expect(evaluate(expression)).toBe(value);
  });

  it.each([
    ['', "unexpected end, expected a number, a name or '(', at position 1"],
    ['1 +', "unexpected end, expected a number, a name or '(', at position 4"],
    ['2 foo', "unexpected 'foo', expected an operator, at position 3"],
    ['1+foo', "unknown name 'foo' at position 3"],
    ['1+foo(2)', "unknown function 'foo' at position 3"],
    ['2pi', "unexpected 'pi', expected an operator, at position 2"],
    ['2(3)', "unexpected '(', expected an operator, at position 2"],
    ['(1)(2)', "unexpected '(', expected an operator, at position 4"],
    ['pi(2)', "unexpected '(', expected an operator, at position 3"],
    ['1 2', "unexpected '2', expected an operator, at position 3"],
    ['1.2.3', "unexpected '.3', expected an operator, at position 4"],
    ['(1', "unexpected end, expected an operator or the ')' for position 1, at position 3"],
    ['1)', "unexpected ')', expected an operator, at position 2"],
    ['()', "unexpected ')', expected a number, a name or '(', at position 2"],
    ['1,000', "unexpected ',', expected an operator, at position 2"],
    ['sqrt 4', "expected '(' after sqrt at position 6"],
    ['sqrt()', 'sqrt takes 1 argument, not 0, at position 1'],
    ['atan2(1)', 'atan2 takes 2 arguments, not 1, at position 1'],
    ['log(1,2,3)', 'log takes 1 or 2 arguments, not 3, at position 1'],
    ['max()', 'max takes 1 or more arguments, not 0, at position 1'],
    ['max(1,)', "unexpected ')', expected a number, a name or '(', at position 7"],
    ['1 = 1', "unexpected '=' at position 3"],
    ['"a"', "unexpected '\"' at position 1"],
    ['1\u0000', 'unexpected U+0000 at position 2'],
    ['1e999', 'a number too large to hold at position 1'],
    ['5!!', "unexpected '!', expected an operator, at position 3"],
    ['50%', "unexpected end, expected a number, a name or '(', at position 4"],
    ['constructor', "unknown name 'constructor' at position 1"],
    ['__proto__', "unknown name '__proto__' at position 1"],
    ['Math.sqrt(4)', "unexpected '.' at position 5"],
  ])('refuses %j as input', (expression, message) => {
    expect(failureOf(expression)).toMatchObject({
      code: 'input_invalid',
      message,
      issues: [{ path: '/expression', message }],
    });
  });

  it.each([
    ['1/0', 'division by zero at position 2'],
    ['1%(2-2)', 'division by zero at position 2'],
    ['0^-1', 'division by zero at position 2'],
    ['mod(1, 0)', 'mod(1, 0) has no finite real value at position 1'],
    ['10^308*10', "the result of '*' is too large at position 7"],
    ['9^9^9', "the result of '^' is too large at position 2"],
    ['(-8)^(1/3)', "'^' has no real value at position 5"],
    ['sqrt(-1)', 'sqrt(-1) has no finite real value at position 1'],
    ['1 + ln(0)', 'ln(0) has no finite real value at position 5'],
    ['log(8, 1)', 'log(8, 1) has no finite real value at position 1'],
    ['round(1, 99)', 'round(1, 99) has no finite real value at position 1'],
    ['171!', 'factorial needs a whole number from 0 to 170, not 171, at position 4'],
    ['1.5!', 'factorial needs a whole number from 0 to 170, not 1.5, at position 4'],
  ])('reports that %j has no value', (expression, message) => {
    expect(failureOf(expression)).toMatchObject({ code: 'tool_failed', message, retryable: false });
  });

  it('refuses an expression that is too long or nested too deeply', () => {
    const nested = (depth: number): string => `${'('.repeat(depth)}1${')'.repeat(depth)}`;
    expect(evaluate(nested(100))).toBe(1);
    expect(failureOf(nested(101)).message).toBe('nested more than 100 deep at position 101');
    expect(failureOf('-'.repeat(4000)).message).toContain('nested more than 100 deep');
    expect(failureOf(`2${'^2'.repeat(1000)}`).message).toContain('nested more than 100 deep');
    expect(evaluate(`1${'+1'.repeat(2000)}`)).toBe(2001);
    expect(failureOf('1'.repeat(4097)).message).toContain('longer than 4096 characters');
  });

  it('returns the value of any syntax tree printed as an expression', () => {
    fc.assert(
      fc.property(tree, (node) => {
        const value = valueOf(node);
        if (Number.isFinite(value)) expect(evaluate(printed(node))).toBe(value === 0 ? 0 : value);
        else expect(failureOf(printed(node)).code).toBe('tool_failed');
      }),
      { numRuns: 2000 },
    );
  });

  it('returns a finite number or throws a ToolFailure for any text', () => {
    const pieces = [
      '1',
      '2.5',
      '.',
      '(',
      ')',
      '+',
      '-',
      '*',
      '**',
      '/',
      '%',
      '^',
      '!',
      ',',
      'pi',
      'sqrt',
      'log',
      ' ',
      '0x',
    ];
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (expression) => {
        try {
          expect(evaluate(expression)).toSatisfy(Number.isFinite);
        } catch (error) {
          expect(error).toBeInstanceOf(ToolFailure);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

function failureOf(expression: string): Failure {
  try {
    evaluate(expression);
  } catch (error) {
    if (error instanceof ToolFailure) return error.failure;
    throw error;
  }
  throw new Error(`${expression} has a value`);
}

type Node =
  | { kind: 'number'; value: number }
  | { kind: 'negative'; of: Node }
  | { kind: 'binary'; sign: '+' | '-' | '*' | '/' | '%' | '^'; left: Node; right: Node };

const { tree } = fc.letrec<{ tree: Node }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc
      .oneof(fc.nat(20), fc.double({ min: 0, max: 1e6, noNaN: true }))
      .map((value) => ({ kind: 'number' as const, value })),
    tie('tree').map((of) => ({ kind: 'negative' as const, of })),
    fc
      .record({ sign: fc.constantFrom('+', '-', '*', '/', '%', '^'), left: tie('tree'), right: tie('tree') })
      .map((parts) => ({ kind: 'binary' as const, ...parts })),
  ),
}));

/** The reference implementation: the value of the tree, or none if any step is not finite. */
function valueOf(node: Node): number {
  if (node.kind === 'number') return node.value;
  if (node.kind === 'negative') return -valueOf(node.of);
  const left = valueOf(node.left);
  const right = valueOf(node.right);
  if (!Number.isFinite(left) || !Number.isFinite(right)) return NaN;
  switch (node.sign) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    case '^':
      return left ** right;
  }
}

const LEVEL = { '+': 1, '-': 1, '*': 2, '/': 2, '%': 2, '^': 4 } as const;
const levelOf = (node: Node): number =>
  node.kind === 'number' ? 5 : node.kind === 'negative' ? 3 : LEVEL[node.sign];

/** Writes only the parentheses that precedence and associativity require. */
function printed(node: Node): string {
  if (node.kind === 'number') return String(node.value);
  if (node.kind === 'negative') return `-${wrapped(node.of, levelOf(node.of) < 3)}`;
  const level = LEVEL[node.sign];
  const rightward = node.sign === '^';
  const left = wrapped(node.left, levelOf(node.left) < level || (rightward && levelOf(node.left) === level));
  // A sign may stand unwrapped after a power; otherwise equal levels associate to the left.
  const right = wrapped(node.right, rightward ? levelOf(node.right) < 3 : levelOf(node.right) <= level);
  return `${left} ${node.sign} ${right}`;
}

function wrapped(node: Node, needed: boolean): string {
  return needed ? `(${printed(node)})` : printed(node);
}
