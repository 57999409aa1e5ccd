import { join } from 'node:path';

/** Returns the path of the store in a data folder. */
export function storeFileIn(dataFolder: string): string {
  return join(dataFolder, 'patchboard.db');
}
