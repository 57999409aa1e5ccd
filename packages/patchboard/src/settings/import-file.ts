import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A module of the user's, named by its path. */
export async function importFile(path: string): Promise<Record<string, unknown>> {
  const file = resolve(path);
  // Node would say which of our files asked for it, and that is nothing to anybody.
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}
