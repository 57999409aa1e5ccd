/** The given seed, or a random one. Null if the given one is not an integer. */
export function parseSeed(given: string | undefined): number | null {
  if (given === undefined) return Math.floor(Math.random() * 2 ** 31);
  const seed = Number(given);
  return given.trim() !== '' && Number.isSafeInteger(seed) ? seed : null;
}

/**
 * The seed of a test: that of the environment variable CHAOS_SEED, else `fixed`, else a random one. It is printed, so that a
 * run that failed can be repeated.
 */
export function chaosSeed(
  test: string,
  fixed?: number,
  given: string | undefined = process.env['CHAOS_SEED'],
  print: (line: string) => void = (line) => void process.stderr.write(line),
): number {
  const seed = given === undefined && fixed !== undefined ? fixed : parseSeed(given);
  if (seed === null) throw new Error(`CHAOS_SEED is "${given}"; it must be a whole number`);
  print(`${test}: seed ${seed}; to repeat it set CHAOS_SEED=${seed}\n`);
  return seed;
}
