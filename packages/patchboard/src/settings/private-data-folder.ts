import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { operatorTokenFile } from '../identity/operator-token.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';
import { headFileOf } from '../store/sqlite/store-head.ts';
import { ConfigError } from './config-file.ts';
import { exposure, keepPrivate, type PrivatePath, type Tightened } from './keep-private.ts';
import { OTHER_FOLDER } from './make-data-folder.ts';

/** Returns why other users can access the data folder; null if they cannot. */
export function dataFolderExposure(folder: string): string | null {
  return exposure(privateFolder(folder));
}

/** Returns why other users can read the operator token; null if they cannot. */
export function operatorTokenExposure(dataFolder: string): string | null {
  return exposure(privateToken(dataFolder));
}

/**
 * Removes the access of other users to the data folder and its operator token, and returns the changes. Throws a
 * `ConfigError` if that fails, and without a change if the folder holds only files of other programs.
 */
export async function closeDataFolder(folder: string): Promise<readonly Tightened[]> {
  const given = privateFolder(folder);
  const problem = exposure(given);
  if (problem !== null && !(await isOwn(folder)))
    throw new ConfigError(`${problem} (not done here, because it holds other files), or ${OTHER_FOLDER}`);
  return [...(await keepPrivate(given)), ...(await closeOperatorToken(folder))];
}

/** Removes the access of other users to the operator token alone. */
export async function closeOperatorToken(dataFolder: string): Promise<readonly Tightened[]> {
  return await keepPrivate(privateToken(dataFolder));
}

function privateFolder(path: string): PrivatePath {
  return { path, name: `the data folder ${path}`, mode: 0o700 };
}

function privateToken(dataFolder: string): PrivatePath {
  const path = operatorTokenFile(dataFolder);
  return { path, name: path, mode: 0o600 };
}

/** Returns whether the folder is empty or contains files of Patchboard. */
async function isOwn(folder: string): Promise<boolean> {
  const names = (await readdir(folder)).filter((name) => name !== 'lost+found');
  const store = storeFileIn(folder);
  const own = [store, headFileOf(store), operatorTokenFile(folder)].map((file) => basename(file));
  return names.length === 0 || own.some((name) => names.includes(name));
}
