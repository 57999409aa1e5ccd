import { reason } from '../../reasons/reason-text.ts';
import type { Check } from './check-run.ts';

/** Cost in steps of the comparison of two decimals, and of each power of ten between them. */
const STEPS_PER_DECIMAL = 25;
const STEPS_PER_POWER = 0.5;

/**
 * Compares decimals, as JSON texts write them: 19.99 is a multiple of 0.01, although dividing the floating-point numbers leaves a
 * remainder.
 */
export function checkMultipleOf(unit: number): Check {
  const why = reason('issue_multiple_of', { unit });
  const divisor = decimalOf(unit);
  const isInteger = Number.isSafeInteger(unit);
  return (value, run) => {
    if (typeof value !== 'number') return true;
    if (isInteger && Number.isSafeInteger(value)) return value % unit === 0 || run.fail(why);
    // `JSON.parse` reads 1e999 as infinity.
    if (!Number.isFinite(value)) return run.fail(why);
    const dividend = decimalOf(value);
    const powers = dividend.exponent - divisor.exponent;
    run.spend(STEPS_PER_DECIMAL + STEPS_PER_POWER * Math.abs(powers));
    const rest =
      powers < 0
        ? dividend.digits % (divisor.digits * 10n ** BigInt(-powers))
        : (dividend.digits * 10n ** BigInt(powers)) % divisor.digits;
    return rest === 0n || run.fail(why);
  };
}

/** A number as `digits` × 10^`exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Returns the shortest decimal that stands for the number, which is how JSON texts write it. */
function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
