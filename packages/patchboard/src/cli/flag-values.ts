import { InvalidArgumentError } from 'commander';
import { UsageError } from './exit-codes.ts';

/** Collects the values of a flag that may be repeated. */
export function addText(given: string, before: readonly string[] = []): readonly string[] {
  return [...before, given];
}

export function positiveNumber(given: string): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

export function wholeNumber(flag: string, given: string, min: number): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new UsageError(`${flag}: "${given}" is not a whole number of at least ${min}`);
}
