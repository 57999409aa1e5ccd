import { statSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import type { Log } from '../core/ports.ts';
import { ConfigError } from './config-file.ts';
import { fileProblem } from './file-problem.ts';

/** A file or folder that only the user of this process may access. */
export interface PrivatePath {
  readonly path: string;
  /** How error messages name it. */
  readonly name: string;
  readonly mode: number;
}

/** A change of permissions, for the log. */
export interface Tightened {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

/** Permission bits of the group and of all others. */
const OTHERS = 0o077;

/** Returns why other users can access the path; null if they cannot, if it does not exist, or on a system without owners. */
export function exposure(given: PrivatePath): string | null {
  const found = ownerAndMode(given.path);
  if (found === null) return null;
  const { uid, ownUid, mode } = found;
  if (uid !== ownUid)
    return `${given.name} belongs to user ${uid}, and this is user ${ownUid}: start as user ${uid}, or run chown ${ownUid} on it`;
  if ((mode & OTHERS) === 0) return null;
  return `${given.name} can be read by other users, mode ${octal(mode)}: run chmod ${given.mode.toString(8)} on it`;
}

/**
 * Removes the permissions of other users and returns the changes. Throws a `ConfigError` if that fails, or if another user
 * owns the path, because the owner could restore them.
 */
export async function keepPrivate(given: PrivatePath): Promise<readonly Tightened[]> {
  const { path, mode } = given;
  const before = ownerAndMode(path);
  const problem = exposure(given);
  if (before === null || problem === null) return [];
  if (before.uid !== before.ownUid) throw new ConfigError(problem);
  await chmod(path, mode).catch((error: unknown) => {
    throw new ConfigError(`${problem} (that failed here: ${fileProblem(error)})`);
  });
  // Some file systems accept `chmod` without storing the mode.
  if (exposure(given) !== null)
    throw new ConfigError(`${problem} (its file system does not keep modes: use another one)`);
  return [{ path, from: octal(before.mode), to: octal(mode) }];
}

export function logTightened(tightened: readonly Tightened[], log: Log): void {
  for (const { path, from, to } of tightened) log.warn('permissions.tightened', { path, from, to });
}

interface OwnerAndMode {
  readonly uid: number;
  readonly ownUid: number;
  readonly mode: number;
}

function ownerAndMode(path: string): OwnerAndMode | null {
  const ownUid = process.getuid?.();
  if (ownUid === undefined) return null;
  try {
    const { uid, mode } = statSync(path);
    return { uid, ownUid, mode: mode & 0o777 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
