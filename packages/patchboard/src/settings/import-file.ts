import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Imports a module of the operator by its path. */
export async function importFile(path: string): Promise<Record<string, unknown>> {
  const file = resolve(path);
  // Node's own message would name the importing file of Patchboard, which does not help the operator.
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}
