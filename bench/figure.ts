import type { Comparison } from './statistics.ts';

export interface Arm {
  readonly unit: 'per second' | 'ms' | 'µs' | 'KiB' | 's';
  readonly median: number;
  readonly runs: readonly number[];
}

/** One row of the table in the performance targets: a ratio of things measured in the same run. */
export interface Figure {
  readonly id: string;
  /** What is done, in a sentence or two. */
  readonly work: readonly string[];
  readonly target: string;
  /** What survives what; a queue figure without it says nothing. */
  readonly durability: string;
  readonly ratio: number;
  readonly spread: { readonly min: number; readonly max: number };
  readonly arms: Readonly<Record<string, Arm>>;
  /** Ratios besides the one the target is about. */
  readonly others: Readonly<Record<string, Comparison>>;
}

export interface FigureOptions {
  /** A smoke run: everything happens once, and the numbers mean nothing. */
  readonly quick: boolean;
  /** Says what is going on; results go elsewhere. */
  readonly say: (line: string) => void;
}

export type RunFigure = (options: FigureOptions) => Promise<Figure>;
