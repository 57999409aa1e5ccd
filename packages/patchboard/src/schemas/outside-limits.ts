import { WIRE_LIMITS } from '@patchboard/wire';

/** Limits for schemas from outside. Compiling and checking both block the event loop. */
export interface OutsideLimits {
  readonly bytes: number;
  readonly depth: number;
  readonly properties: number;
  /** Number of keywords and subschemas. */
  readonly checks: number;
  /** Number of `$ref` targets. */
  readonly references: number;
  /** Number of schemas applied to the same value, without descending into it. Bounds exponential growth by `allOf` and `$ref`. */
  readonly checksInPlace: number;
  /** Number of distinct patterns; compiling one takes up to a millisecond. */
  readonly patterns: number;
  readonly patternLength: number;
  /** Number of compiled instructions of all patterns together. */
  readonly patternSize: number;
  /** Step budget for checking one value. A step takes about 25 ns, and up to 80 ns before the JIT has compiled the code. */
  readonly steps: number;
}

export const OUTSIDE_LIMITS: OutsideLimits = {
  bytes: WIRE_LIMITS.schemaBytes,
  depth: WIRE_LIMITS.schemaDepth,
  properties: WIRE_LIMITS.schemaProperties,
  checks: 5_000,
  references: 500,
  checksInPlace: 10_000,
  patterns: 25,
  patternLength: 1_000,
  patternSize: 3_000,
  steps: 500_000,
};
