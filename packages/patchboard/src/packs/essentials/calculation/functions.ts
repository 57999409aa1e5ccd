export interface NumericFunction {
  readonly min: number;
  readonly max: number;
  apply(values: readonly number[]): number;
}

/** Looked up by lower-case name. */
export const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['π', Math.PI],
  ['tau', 2 * Math.PI],
  ['τ', 2 * Math.PI],
  ['e', Math.E],
]);

const LARGEST_FACTORIAL = 170;
const MOST_DECIMALS = 15;

/** Looked up by lower-case name. NaN or an infinity means "no value", which the evaluator turns into a failure. */
export const FUNCTIONS: ReadonlyMap<string, NumericFunction> = new Map([
  ['sqrt', unary(Math.sqrt)],
  ['cbrt', unary(Math.cbrt)],
  ['abs', unary(Math.abs)],
  ['sin', unary(Math.sin)],
  ['cos', unary(Math.cos)],
  ['tan', unary(Math.tan)],
  ['asin', unary(Math.asin)],
  ['acos', unary(Math.acos)],
  ['atan', unary(Math.atan)],
  ['atan2', binary(Math.atan2)],
  ['sinh', unary(Math.sinh)],
  ['cosh', unary(Math.cosh)],
  ['tanh', unary(Math.tanh)],
  ['asinh', unary(Math.asinh)],
  ['acosh', unary(Math.acosh)],
  ['atanh', unary(Math.atanh)],
  ['exp', unary(Math.exp)],
  ['ln', unary(Math.log)],
  ['log', { min: 1, max: 2, apply: ([x = NaN, base]) => logarithm(x, base) }],
  ['log2', unary(Math.log2)],
  ['log10', unary(Math.log10)],
  ['floor', unary(Math.floor)],
  ['ceil', unary(Math.ceil)],
  ['round', { min: 1, max: 2, apply: ([x = NaN, decimals = 0]) => roundTo(x, decimals) }],
  ['trunc', unary(Math.trunc)],
  ['sign', unary(Math.sign)],
  ['min', anyNumber((values) => Math.min(...values))],
  ['max', anyNumber((values) => Math.max(...values))],
  ['hypot', anyNumber((values) => Math.hypot(...values))],
  ['pow', binary((base, exponent) => base ** exponent)],
  ['mod', binary(flooredRemainder)],
  ['factorial', unary(factorial)],
]);

export function factorial(n: number): number {
  if (!Number.isInteger(n) || n < 0 || n > LARGEST_FACTORIAL) return NaN;
  let product = 1;
  for (let factor = 2; factor <= n; factor += 1) product *= factor;
  return product;
}

function logarithm(x: number, base: number | undefined): number {
  if (base === undefined || base === 10) return Math.log10(x);
  if (base === 2) return Math.log2(x);
  const quotient = Math.log(x) / Math.log(base);
  const whole = Math.round(quotient);
  return base ** whole === x ? whole : quotient; // log(9, 3) is 2, not 2.0000000000000004
}

/** Rounds halves away from zero; `Math.round` rounds -2.5 to -2. */
function roundTo(x: number, decimals: number): number {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MOST_DECIMALS) return NaN;
  const size = Math.abs(x);
  const rounded = decimals === 0 ? Math.round(size) : Number(size.toFixed(decimals));
  return x < 0 ? -rounded : rounded;
}

/** The result has the sign of the divisor; with `%` it has the sign of the dividend. */
function flooredRemainder(x: number, divisor: number): number {
  const remainder = x % divisor;
  return remainder !== 0 && remainder < 0 !== divisor < 0 ? remainder + divisor : remainder;
}

function unary(apply: (x: number) => number): NumericFunction {
  return { min: 1, max: 1, apply: ([x = NaN]) => apply(x) };
}

function binary(apply: (x: number, y: number) => number): NumericFunction {
  return { min: 2, max: 2, apply: ([x = NaN, y = NaN]) => apply(x, y) };
}

function anyNumber(apply: (values: readonly number[]) => number): NumericFunction {
  return { min: 1, max: Number.POSITIVE_INFINITY, apply };
}
