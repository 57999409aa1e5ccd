import { WIRE_LIMITS } from '@patchboard/wire';

/** What a schema from outside may cost. Registration and checking both happen on the event loop. */
export interface OutsideLimits {
  readonly bytes: number;
  readonly depth: number;
  readonly properties: number;
  /** Keywords and subschemas. */
  readonly checks: number;
  /** Schemas that some `$ref` points to. */
  readonly references: number;
  /** Schemas applied to one value with no step into it: what doubling by `allOf` and `$ref` runs into. */
  readonly checksInPlace: number;
  /** Different patterns; compiling one takes up to a millisecond. */
  readonly patterns: number;
  readonly patternLength: number;
  /** Instructions of all patterns together. */
  readonly patternSize: number;
  /** Steps to check one value. A step takes about 25 ns, and up to 80 while the code is cold. */
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
