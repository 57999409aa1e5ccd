/** A fault that is planted in the product, so that the simulator can show that it finds it. */
export interface Mutant {
  /** What the product does wrong with it. */
  readonly name: string;
  /** Below `packages/patchboard/src`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The simulator must find it within the seeds 1 to this number. */
  readonly seeds: number;
}

/** Returns the source of the file with the fault. */
export function mutated({ name, file, find, replace }: Mutant, source: string): string {
  const [before, after, ...others] = source.split(find);
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(`the text that "${name}" replaces must occur once in ${file}, but it occurs otherwise`);
  return `${before}${replace}${after}`;
}
