import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DURABILITY } from '../arms/open-store.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import { armOf } from '../measurement.ts';
import {
  secondsOfCommand,
  secondsOfCurl,
  secondsToFirstResult,
  startShippedServer,
} from '../shipped-server.ts';
import { comparePaired, subtractPaired } from '../statistics.ts';
import { fillStore } from '../stored-calls.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

/** Slice by slice, in seconds. */
interface Runs {
  readonly empty: number[];
  readonly filled: number[];
  readonly command: number[];
  readonly curl: number[];
}

/** P11: how long a start takes with many stored calls, and the command line compared with curl. */
export async function firstResult({ quick, say }: FigureOptions): Promise<Figure> {
  const calls = quick ? 2000 : 1_000_000;
  const [starts, commands] = quick ? [1, 1] : [9, 20];
  return await withTemporaryFolder(async (folder) => {
    const [empty, filled] = [join(folder, 'empty'), join(folder, 'filled')];
    await mkdir(empty);
    say(`P11: storing ${calls.toLocaleString('en')} calls`);
    await fillStore({ folder: filled }, calls, 'filled');
    const runs: Runs = { empty: [], filled: [], command: [], curl: [] };
    // The first starts fill the caches of the file system.
    for (const place of [empty, filled]) await secondsToFirstResult(place);
    for (let slice = 0; slice < starts; slice += 1) {
      say(`P11: start ${slice + 1} of ${starts}`);
      runs.empty.push(await secondsToFirstResult(empty));
      runs.filled.push(await secondsToFirstResult(filled));
    }
    await runCommands(empty, commands, runs);
    return figureOf(calls, runs);
  });
}

async function runCommands(folder: string, times: number, { command, curl }: Runs): Promise<void> {
  const server = await startShippedServer(folder);
  try {
    await secondsOfCommand(server.url, folder);
    for (let slice = 0; slice < times; slice += 1) {
      command.push(await secondsOfCommand(server.url, folder));
      curl.push(await secondsOfCurl(server.url, folder));
    }
  } finally {
    await server.stop();
  }
}

function figureOf(calls: number, { empty, filled, command, curl }: Runs): Figure {
  const label = calls.toLocaleString('en');
  return {
    id: 'P11',
    work: [
      `start: from \`patchboard serve\` to the response with the result of a first call, with ${label} stored calls ÷ with none (files in the`,
      'cache of the operating system). command: `patchboard call` from the shell, and curl of the same call, which both wait for the result.',
    ],
    durability: DURABILITY,
    outcomes: [
      {
        name: `start with ${label} calls ÷ with none`,
        ...comparePaired(filled, empty),
        target: { atMost: 1.5 },
      },
      {
        name: 'patchboard call, more than curl',
        unit: 's',
        ...subtractPaired(command, curl),
        target: { atMost: 0.3 },
      },
    ],
    arms: {
      'start, no calls': armOf('s', empty),
      [`start, ${label} calls`]: armOf('s', filled),
      'patchboard call': armOf('s', command),
      curl: armOf('s', curl),
    },
  };
}
