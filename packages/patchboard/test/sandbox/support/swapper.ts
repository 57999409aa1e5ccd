/** Swaps a folder and a link as fast as possible, until it is killed, and sends the number of swaps so far. */
import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';

const [inside = '', outside = '', door = ''] = process.argv.slice(2);
let swaps = 0;

function swap(): void {
  for (let round = 0; round < 200; round += 1) swaps += swapOnce() ? 1 : 0;
  process.send?.(swaps, () => setImmediate(swap));
}

/** Returns false if a concurrent write prevented the swap. */
function swapOnce(): boolean {
  try {
    rmSync(door, { force: true, recursive: true });
    renameSync(inside, door);
    renameSync(door, inside);
    symlinkSync(outside, door);
    return true;
  } catch {
    if (!existsSync(inside)) renameSync(door, inside);
    return false;
  }
}

process.send?.(swaps, swap);
