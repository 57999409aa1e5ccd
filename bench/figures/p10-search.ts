import { join } from 'node:path';
import type { Searched, SearchSettings } from '../arms/search.ts';
import { runScript } from '../child.ts';
import type { Arm, Figure, FigureOptions, Outcome } from '../figure.ts';
import { armOf } from '../measurement.ts';
import { comparePaired } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

/** P10: the cost of more contents for the search of the heritage tools. */
export async function search(options: FigureOptions): Promise<Figure> {
  const { quick, say } = options;
  const sizes: readonly [number, number] = quick ? [100, 1000] : [1000, 100_000];
  return await withTemporaryFolder(async (folder) => {
    say(`P10: writing ${sizes.join(' and ')} contents, then searching`);
    const settings: SearchSettings = {
      files: sizes.map((items) => ({ file: join(folder, `${items}.db`), items })),
      rounds: quick ? 1 : 9,
      turns: quick ? 2 : 40,
    };
    return figureOf(sizes, await runScript<Searched>('./arms/search.ts', settings));
  });
}

function figureOf([small, large]: readonly [number, number], searched: Searched): Figure {
  const arms: Record<string, Arm> = {};
  const outcomes: Outcome[] = [];
  for (const { name, isRare, hits, runs, stalls } of searched) {
    const [few = [], many = []] = runs;
    for (const [size, values, found] of [
      [small, few, hits[0]],
      [large, many, hits[1]],
    ] as const) {
      const label = `${name}, ${found} of ${size.toLocaleString('en')}`;
      arms[label] = armOf('ms', values);
    }
    const [, late = []] = stalls;
    if (!isRare) arms[`${name}: the asking thread held up`] = armOf('ms', late);
    outcomes.push({ name, ...comparePaired(many, few), ...(isRare ? { target: { atMost: 3 } } : {}) });
  }
  return {
    id: 'P10',
    work: [
      `One search alone, in the process, at ${large.toLocaleString('en')} contents of a site ÷ at ${small.toLocaleString('en')}; median of each round.`,
      'The target is for words that are as rare in both; the others hold a word that all contents have.',
    ],
    durability: 'reads only',
    outcomes,
    arms,
  };
}
