import type { Life, LifeSettings } from './arms/lives.ts';
import type { Contender } from './contenders.ts';

export type LivesOfArms = Readonly<Record<string, readonly Life[]>>;

/** Measures each arm inside one process, in turn, slice by slice. */
export async function measureInTurn(
  arms: readonly Contender[],
  settings: LifeSettings,
  slices: number,
  say: (line: string) => void,
): Promise<LivesOfArms> {
  const lives: Record<string, Life[]> = Object.fromEntries(arms.map(({ name }) => [name, []]));
  for (let slice = 0; slice < slices; slice += 1) {
    for (const arm of slice % 2 === 0 ? arms : arms.toReversed()) {
      say(`in one process, slice ${slice + 1} of ${slices}: ${arm.name}`);
      lives[arm.name]?.push(await arm.measureLives(settings));
    }
  }
  return lives;
}
