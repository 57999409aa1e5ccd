import type { Arm, SideBySide, Unit } from './figure.ts';
import { comparePaired, median, type Spread } from './statistics.ts';

export function armOf(unit: Unit, runs: readonly number[]): Arm {
  return { unit, median: median(runs), runs };
}

/** Values of several arms that were measured in turn, by the name of the arm. */
export interface Measurement {
  readonly name: string;
  readonly unit: Unit;
  readonly runs: Readonly<Record<string, readonly number[]>>;
}

export function armsOf({ name, unit, runs }: Measurement): Record<string, Arm> {
  return Object.fromEntries(
    Object.entries(runs).map(([arm, values]) => [`${name}, ${arm}`, armOf(unit, values)]),
  );
}

/** Compares one arm of a measurement with another, slice by slice. */
export function compareArms({ runs }: Measurement, arm: string, against: string): Spread {
  return comparePaired(runs[arm] ?? [], runs[against] ?? []);
}

type TableRow = SideBySide['rows'][number];

export function medianRow({ name, unit, runs }: Measurement, columns: readonly string[]): TableRow {
  const cells = columns.map((arm) => (runs[arm] === undefined ? null : median(runs[arm])));
  return { name: `${name}, ${unit}`, cells };
}

/** Ratios of one arm to each of the columns. */
export function ratioRow(measurement: Measurement, arm: string, columns: readonly string[]): TableRow {
  const { runs } = measurement;
  const cells = columns.map((other) =>
    runs[arm] === undefined || runs[other] === undefined ? null : compareArms(measurement, arm, other).value,
  );
  return { name: `  ${arm} ÷`, cells };
}
