import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../core/failures.ts';
import { ConfigError } from './config-file.ts';

/** The advice in messages about a folder that cannot be used. */
export const OTHER_FOLDER = 'name another folder with PATCHBOARD_DATA or --data';

/** Creates the folder with access for this user only, unless it exists. Throws a `ConfigError` if it cannot be used. */
export async function makeDataFolder(folder: string): Promise<void> {
  try {
    await makeWithParents(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(`the data folder ${folder} ${problemOf(error)}: ${OTHER_FOLDER}`);
  }
}

/** Not `mkdir` with `recursive`: in file systems like /proc, which report ENOENT for an existing parent, Node retries endlessly. */
async function makeWithParents(folder: string): Promise<void> {
  const parent = dirname(folder);
  if (parent !== folder && !(await exists(parent))) await makeWithParents(parent);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if (!(await stat(folder)).isDirectory()) throw new NotAFolder();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

class NotAFolder extends Error {}

function problemOf(error: unknown): string {
  if (error instanceof NotAFolder) return 'is a file';
  switch (codeOf(error)) {
    case 'ENOTDIR':
      return 'cannot be created, because a part of the path is a file';
    case 'EACCES':
    case 'EPERM':
      return 'cannot be created or written by this user';
    case 'EROFS':
      return 'is on a file system that cannot be written';
    default:
      return `cannot be created (${messageOf(error)})`;
  }
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code;
}
