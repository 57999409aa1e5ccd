import type { Spread } from './statistics.ts';

export type Unit = 'per second' | 'ms' | 'µs' | 'KiB' | 'KB' | 's' | 'GB';

export interface Arm {
  readonly unit: Unit;
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

export type Target = { readonly atLeast: number } | { readonly atMost: number };

/** `synced`: a response is on disk. `every_second`: the work of the last second may be lost. `none`: nothing is kept. */
export type Durability = 'synced' | 'every_second' | 'none';

/** Software that a user would pick instead. */
export interface ComparedPeer {
  readonly name: string;
  readonly durability: Durability;
  /** Added to the durability in the table of peers. */
  readonly note?: string;
}

/** A ratio of measurements of the same run, or an amount if it has a unit. */
export interface Outcome extends Spread {
  readonly name: string;
  /** Default: a ratio. */
  readonly unit?: Unit;
  /** Default: none; the outcome is a cost that is only reported. */
  readonly target?: Target;
  /** Set if the outcome is our calls per second ÷ those of this peer. */
  readonly peer?: ComparedPeer;
}

/** One section of the report. */
export interface Figure {
  readonly id: string;
  /** What is measured, in a sentence or two. */
  readonly work: readonly string[];
  /** The durability of all arms, in one line or one each; a ratio of queues is meaningless without it. */
  readonly durability: string;
  readonly outcomes: readonly Outcome[];
  readonly arms: Readonly<Record<string, Arm>>;
  /** Printed instead of the list of arms. */
  readonly sideBySide?: SideBySide;
}

export interface FigureOptions {
  /** Smoke test: everything runs once; the numbers are meaningless. */
  readonly quick: boolean;
  /** The largest number of calls that P8 stores, default a million; the number that CONSOLE stores, default 10,000. */
  readonly calls?: number;
  /** Prints progress to stderr. */
  readonly say: (line: string) => void;
}

export type RunFigure = (options: FigureOptions) => Promise<Figure>;
