import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { readText } from '../arguments.ts';
import { MAX_EXPRESSION_LENGTH, evaluate } from './evaluate.ts';

export function calculationTool(): ServerTool {
  return {
    name: 'calculation.eval',
    description: DESCRIPTION,
    inputSchema: {
      type: 'object',
      properties: {
        expression: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_EXPRESSION_LENGTH,
          description: 'The arithmetic expression, for example "(3+4)*6" or "sqrt(2)*sin(pi/4)".',
        },
      },
      required: ['expression'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { value: { type: 'number', description: 'The value of the expression.' } },
      required: ['value'],
      additionalProperties: false,
    },
    timeoutMs: 3000,
    annotations: { readonly: true, destructive: false, idempotent: true },
    metadata: { version: '1.0.0', tags: ['math'] },
    concurrency: null,
    execute: async (args) => ({ value: evaluate(readText(args, 'expression')) }),
  };
}

const DESCRIPTION = [
  'Evaluates one arithmetic expression with double-precision numbers and answers {value}.',
  'Operators: + - * / % (remainder with the sign of the dividend), ^ or ** (power, right-associative, so -2^2 is -4),',
  '! (factorial), parentheses. Numbers: 1, 1.5, .5, 1e3, 0xff. Constants: pi, e, tau. Angles are in radians.',
  'Functions: sqrt, cbrt, abs, sin, cos, tan, asin, acos, atan, atan2(y, x), sinh, cosh, tanh, asinh, acosh, atanh,',
  'exp, ln, log(x) base 10 or log(x, base), log2, log10, floor, ceil, round(x) or round(x, decimals), trunc, sign,',
  'min, max, hypot, pow(x, y), mod(x, y) (remainder with the sign of the divisor), factorial.',
  "Write every '*': 2*pi, not 2pi. There are no variables and no assignment.",
].join(' ');
