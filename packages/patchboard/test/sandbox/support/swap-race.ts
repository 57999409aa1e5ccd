import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenBench } from './a-sandbox-setup.ts';

const SWAPPER = fileURLToPath(new URL('./swapper.ts', import.meta.url));
const SECRET = 'the secret that must not get in';
const REFUSED = 'refused: ';

export interface RaceProgress {
  readonly swaps: number;
  readonly reads: number;
  /** Reads that returned the file inside the workspace. */
  readonly found: number;
  /** Reads that were refused because of the link, or found no file. */
  readonly refused: number;
}

export interface RaceResult extends RaceProgress {
  readonly leaks: number;
  /** Files that were written outside. */
  readonly escapes: number;
}

/** Reads and writes through a folder that another process keeps swapping for a link to the outside. */
export async function swapRace(
  bench: OpenBench,
  isOver: (soFar: RaceProgress) => boolean,
): Promise<RaceResult> {
  const sandbox = bench.sandbox();
  const outside = join(bench.folder, 'outside');
  await sandbox.writeFile('inside/file.txt', 'public');
  await mkdir(outside, { recursive: true });
  await writeFile(join(outside, 'file.txt'), SECRET);
  const swapper = fork(SWAPPER, [join(sandbox.root, 'inside'), outside, join(sandbox.root, 'door')]);
  let swaps = 0;
  swapper.on('message', (count: number) => (swaps = count));
  await once(swapper, 'message');
  let reads = 0;
  let found = 0;
  let refused = 0;
  let leaks = 0;
  while (!isOver({ swaps, reads, found, refused })) {
    const seen = await Promise.all([
      attempt(() => sandbox.readFile('door/file.txt')),
      attempt(async () => JSON.stringify(await sandbox.list('door'))),
      attempt(async () => {
        await sandbox.writeFile('door/written.txt', 'mine');
        return '';
      }),
    ]);
    reads += 1;
    if (seen[0] === 'public') found += 1;
    if (seen[0].startsWith(REFUSED)) refused += 1;
    if (seen.some((text) => text.includes(SECRET))) leaks += 1;
  }
  swapper.kill();
  await once(swapper, 'exit');
  const escapes = existsSync(join(outside, 'written.txt')) ? 1 : 0;
  return { swaps, reads, found, refused, leaks, escapes };
}

/** A refusal must not reveal content. */
async function attempt(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    return `${REFUSED}${String(error)}`;
  }
}
