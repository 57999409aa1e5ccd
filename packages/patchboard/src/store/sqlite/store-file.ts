import { join } from 'node:path';

/** Where the store lies in a data folder. */
export function storeFileIn(dataFolder: string): string {
  return join(dataFolder, 'patchboard.db');
}
