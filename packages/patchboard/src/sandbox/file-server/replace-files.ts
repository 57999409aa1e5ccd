import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename } from 'node:path';
import type { FileChange, FileVersion } from '../../core/sandbox.ts';
import { refuseUnlessFile, versionAt } from './read-file.ts';
import { errorCode, Refusal } from './refusal.ts';
import { atPlace, type Place } from './walk.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const NEW_FILE_MODE = 0o644;

interface Prepared {
  readonly place: Place;
  readonly next: string;
  /** Null if there was no file before, or if no rollback is needed. */
  backup: string | null;
}

/** Changes all files or none: writes the new files beside the old ones, then renames them, and rolls back on an error. */
export function replaceFiles(root: string, changes: readonly FileChange[]): FileVersion[] {
  return withPlaces(root, changes, [], (places) => {
    const prepared: Prepared[] = [];
    let done = 0;
    try {
      for (const [index, change] of changes.entries()) {
        const place = places[index] as Place;
        prepared.push({ place, next: prepare(place, change), backup: null });
      }
      // A single rename is atomic and needs no backup.
      if (prepared.length > 1) for (const one of prepared) one.backup = backUp(one.place);
      for (const { next, place } of prepared) {
        renameSync(next, place.handle);
        done += 1;
      }
    } catch (error) {
      for (const one of prepared.slice(0, done)) restore(one);
      throw toRefusal(error);
    } finally {
      for (const { next, backup } of prepared) for (const file of [next, backup]) remove(file);
    }
    return changes.map(({ content }, index) => versionOf(places[index] as Place, content));
  });
}

/** Keeps the folders of all changes open while `use` runs. */
function withPlaces<T>(
  root: string,
  changes: readonly FileChange[],
  places: readonly Place[],
  use: (places: readonly Place[]) => T,
): T {
  const [first, ...rest] = changes;
  if (first === undefined) return use(places);
  return atPlace(root, first.path, true, (place) => withPlaces(root, rest, [...places, place], use));
}

function prepare(place: Place, { content, expected }: FileChange): string {
  if (place.path === '') throw new Refusal('tool_failed', { code: 'workspace_itself_folder', params: {} });
  const found = lstatSync(place.handle, { throwIfNoEntry: false });
  if (found !== undefined) refuseUnlessFile(found, place.path);
  if (expected !== undefined && versionAt(place) !== expected) {
    const what = found === undefined ? 'gone' : expected === null ? 'exists' : 'changed';
    throw new Refusal('conflict', { code: `file_${what}_since_read`, params: { path: place.path } });
  }
  const next = temporaryPath(place, 'next');
  write(next, content, found === undefined ? NEW_FILE_MODE : found.mode & 0o777);
  return next;
}

/** Hard-links the current file under another name, or copies it: the system refuses to link a file of another user. */
function backUp(place: Place): string | null {
  if (lstatSync(place.handle, { throwIfNoEntry: false }) === undefined) return null;
  const backup = temporaryPath(place, 'before');
  try {
    linkSync(place.handle, backup);
  } catch {
    copyFileSync(place.handle, backup, constants.COPYFILE_EXCL);
  }
  return backup;
}

/** Creates a new file, so that other hard links to the old one keep their content. */
function write(path: string, content: string, mode: number): void {
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    const bytes = Buffer.from(content, 'utf8');
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } catch (error) {
    remove(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

function restore({ place, backup }: Prepared): void {
  if (backup === null) remove(place.handle);
  else renameSync(backup, place.handle);
}

function remove(path: string | null): void {
  if (path !== null) rmSync(path, { force: true });
}

/** Does not contain the file's own name, which may already have the maximum of 255 bytes. */
function temporaryPath({ handle, path }: Place, role: string): string {
  const folder = handle.slice(0, handle.length - basename(path).length);
  return `${folder}.patchboard-${role}-${randomBytes(8).toString('hex')}`;
}

function versionOf({ path }: Place, content: string): FileVersion {
  const bytes = Buffer.from(content, 'utf8');
  return { path, size: bytes.length, version: createHash('sha256').update(bytes).digest('hex') };
}

function toRefusal(error: unknown): unknown {
  switch (errorCode(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Refusal('permission_denied', { code: 'file_not_writable', params: {} });
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new Refusal('tool_failed', { code: 'file_no_room', params: {} });
    case 'ENAMETOOLONG':
      return new Refusal('input_invalid', { code: 'file_name_too_long', params: {} });
    default:
      return error;
  }
}
