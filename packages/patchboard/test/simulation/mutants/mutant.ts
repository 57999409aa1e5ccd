/** Most are found by the first few seeds. Those that need a rare race have more. */
export const FEW = 50;
export const MANY = 400;
export const RARE = 3000;

/** A fault that is planted in the product, so that the simulator can show that it finds it. */
export interface Mutant {
  /** What the product does wrong with it. */
  readonly name: string;
  /** Below `packages/patchboard/src`; or of the simulated store, below `packages/patchboard`: `test/…`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The simulator must find it within the seeds 1 to this number. */
  readonly seeds: number;
}

/** Returns where the file is. */
export function sourceOf({ file }: Pick<Mutant, 'file'>): URL {
  return new URL(`../../../${file.startsWith('test/') ? '' : 'src/'}${file}`, import.meta.url);
}

/** Returns the source of the file with the fault. */
export function mutated({ name, file, find, replace }: Mutant, source: string): string {
  const [before, after, ...others] = source.split(find);
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(`the text that "${name}" replaces must occur once in ${file}, but it occurs otherwise`);
  return `${before}${replace}${after}`;
}
