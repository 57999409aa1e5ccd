import { constants, existsSync } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PatchboardError } from '@patchboard/client';
import { StorageFull } from '../core/failures.ts';
import { fileProblem } from '../settings/file-problem.ts';
import { cleanOnSignal } from './clean-on-signal.ts';
import { UsageError } from './exit-codes.ts';

export interface CompleteFileOptions {
  /** Whether an existing file is replaced. */
  readonly force: boolean;
  /** How error messages name the argument. */
  readonly name: string;
  /** The signals that this process does not handle otherwise. Default: all that end it. */
  readonly signals?: readonly NodeJS.Signals[];
}

/**
 * Creates a file with what `write` writes to the temporary path that it gets, in the same folder. The file appears under
 * its own name only when it is complete and on the disk; if `write` rejects, or a signal ends the process, nothing is left.
 */
export async function createCompleteFile<T>(
  file: string,
  { force, name, signals }: CompleteFileOptions,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  refuseExisting(file, force, name);
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.part`);
  const off = cleanOnSignal(() => rm(temporary, { force: true }), signals);
  try {
    // Before anything is read for it: a server would copy its whole store for a file that cannot be written.
    await access(dirname(file), constants.W_OK | constants.X_OK);
    const written = await write(temporary);
    await sync(temporary);
    refuseExisting(file, force, name);
    await rename(temporary, file);
    if (process.platform !== 'win32') await sync(dirname(file));
    return written;
  } catch (error) {
    await rm(temporary, { force: true });
    throw writeError(error, file, name);
  } finally {
    off();
  }
}

function refuseExisting(file: string, force: boolean, name: string): void {
  if (!force && existsSync(file))
    throw new UsageError(`${name}: ${file} exists; name another file, or replace it with --force`);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Converts an error of the file system to one for the operator; returns all others unchanged. */
function writeError(error: unknown, file: string, name: string): unknown {
  if (error instanceof StorageFull || (error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new PatchboardError('problem', `${name}: the disk of ${file} has no space for it`, {
      code: 'storage_full',
      recommendations: ['free some space there, or name a file on another disk'],
    });
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  return new UsageError(`${name}: ${fileProblem(error)}`);
}
