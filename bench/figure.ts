import type { Comparison } from './statistics.ts';

export interface Arm {
  readonly unit: 'per second' | 'ms' | 'µs' | 'KiB' | 's';
  readonly median: number;
  readonly runs: readonly number[];
}

/** Arms side by side, one per column. */
export interface SideBySide {
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly name: string;
    /** Null where an arm has no such measurement. */
    readonly cells: readonly (number | null)[];
  }[];
}

/** One row of the performance table: a ratio of measurements of the same run. */
export interface Figure {
  readonly id: string;
  /** What is measured, in a sentence or two. */
  readonly work: readonly string[];
  readonly target: string;
  /** The durability of all arms, in one line or one each; a ratio of queues is meaningless without it. */
  readonly durability: string;
  readonly ratio: number;
  readonly spread: { readonly min: number; readonly max: number };
  readonly arms: Readonly<Record<string, Arm>>;
  /** Printed instead of the list of arms. */
  readonly sideBySide?: SideBySide;
  /** Further ratios without a target. */
  readonly others: Readonly<Record<string, Comparison>>;
}

export interface FigureOptions {
  /** Smoke test: everything runs once; the numbers are meaningless. */
  readonly quick: boolean;
  /** Prints progress to stderr. */
  readonly say: (line: string) => void;
}

export type RunFigure = (options: FigureOptions) => Promise<Figure>;
