import type { Durability, Outcome, Unit } from './figure.ts';

/** Null if there is no target. */
export function isMet({ value, target }: Outcome): boolean | null {
  if (target === undefined) return null;
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** Such as "≥ 2" or "≤ 45 µs". Null if there is no target. */
export function targetText({ target, unit }: Outcome): string | null {
  if (target === undefined) return null;
  const [sign, bound] = 'atLeast' in target ? ['≥', target.atLeast] : ['≤', target.atMost];
  return `${sign} ${withUnit(String(bound), unit)}`;
}

export function valueText({ value, unit }: Outcome): string {
  return withUnit(shortNumber(value), unit);
}

/** The spread of single slices. Its unit is that of the value. */
export function spreadText({ min, max }: Outcome): string {
  return `${shortNumber(min)} to ${shortNumber(max)}`;
}

export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en');
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const DURABILITY: Readonly<Record<Durability, string>> = {
  synced: 'synced before the response',
  every_second: 'synced every second: the work of the last one may be lost',
  none: 'nothing is kept',
};

export function durabilityText(durability: Durability): string {
  return DURABILITY[durability];
}

function withUnit(text: string, unit: Unit | undefined): string {
  return unit === undefined ? text : `${text} ${unit}`;
}
