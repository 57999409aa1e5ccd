const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Round numbers, for the distance between the labels of an axis. */
export const ROUND_NUMBERS: readonly number[] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000].flatMap(
  (power) => [1, 2, 5].map((digit) => digit * power),
);

/** Round durations in milliseconds, for the same. */
export const ROUND_DURATIONS: readonly number[] = [
  ...ROUND_NUMBERS.filter((ms) => ms < SECOND),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 20, 50].map((days) => days * DAY),
];

/** The labels of an axis that begins with 0: round durations at equal distance, at most `most` after the 0. */
export function durationTicks(
  lengthMs: number,
  most: number,
): { readonly stepMs: number; readonly ticks: readonly number[] } {
  const stepMs =
    ROUND_DURATIONS.find((step) => lengthMs / step <= most) ?? Math.ceil(lengthMs / most / DAY) * DAY;
  const ticks = Array.from({ length: Math.floor(lengthMs / stepMs) + 1 }, (_, index) => index * stepMs);
  return { stepMs, ticks };
}
