import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Life, LifeSettings } from '../arms/in-process.ts';
import { DURABILITY } from '../arms/open-store.ts';
import { runScript } from '../child.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import { comparePaired, median } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONCURRENCY = 128;
const ARMS = ['patchboard', 'one_tx_per_change'] as const;

/** P2: the whole durable life of a server tool's call inside one process. */
export async function wholeLife({ quick, say }: FigureOptions): Promise<Figure> {
  const slices = quick ? 1 : 5;
  const runs: Record<(typeof ARMS)[number], Life[]> = { patchboard: [], one_tx_per_change: [] };
  for (let slice = 0; slice < slices; slice += 1) {
    say(`P2: slice ${slice + 1} of ${slices}`);
    for (const name of slice % 2 === 0 ? ARMS : ARMS.toReversed()) {
      runs[name].push(await live(name, quick ? 0.5 : 3));
    }
  }
  const together = comparePaired(rates(runs.patchboard), rates(runs.one_tx_per_change));
  return {
    id: 'P2',
    work: [
      `Engine and store in one process, no HTTP: submit → recorded → executed → result durable, ${CONCURRENCY} calls at a time;`,
      'alone: one call at a time. The ratio is against the same engine with a transaction per change.',
    ],
    target: '≥ 8 · ≥ 15 (÷ BullMQ · ÷ graphile-worker; peers join later)',
    durability: DURABILITY,
    ratio: together.ratio,
    spread: { min: together.min, max: together.max },
    arms: Object.fromEntries(
      ARMS.flatMap((name) => [
        [name, armOf(rates(runs[name]), 'per second')],
        [`${name} alone p50`, armOf(alone(runs[name]), 'ms')],
      ]),
    ),
    others: {
      'alone p50 ÷ one_tx_per_change': comparePaired(alone(runs.patchboard), alone(runs.one_tx_per_change)),
    },
  };
}

async function live(name: (typeof ARMS)[number], seconds: number): Promise<Life> {
  return await withTemporaryFolder(async (folder) => {
    const data = join(folder, 'data');
    await mkdir(data);
    const settings: LifeSettings = {
      folder: data,
      groupCommit: name === 'patchboard',
      concurrency: CONCURRENCY,
      seconds,
    };
    return await runScript<Life>('./arms/in-process.ts', settings);
  });
}

function rates(lives: readonly Life[]): number[] {
  return lives.map((life) => life.perSecond);
}

function alone(lives: readonly Life[]): number[] {
  return lives.map((life) => life.aloneP50Ms);
}

function armOf(runs: readonly number[], unit: Arm['unit']): Arm {
  return { unit, median: median(runs), runs };
}
