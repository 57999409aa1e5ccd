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
  /** Null: there was nothing, or nothing needs to be put back. */
  backup: string | null;
}

/** All of them or none: everything that can fail is done before the first file changes, and what changed is put back. */
export function replaceFiles(root: string, changes: readonly FileChange[]): FileVersion[] {
  return withPlaces(root, changes, [], (places) => {
    const prepared: Prepared[] = [];
    let done = 0;
    try {
      for (const [index, change] of changes.entries()) {
        const place = places[index] as Place;
        prepared.push({ place, next: prepare(place, change), backup: null });
      }
      // One file alone changes in one step, or not at all.
      if (prepared.length > 1) for (const one of prepared) one.backup = keep(one.place);
      for (const { next, place } of prepared) {
        renameSync(next, place.handle);
        done += 1;
      }
    } catch (error) {
      for (const one of prepared.slice(0, done)) putBack(one);
      throw refused(error);
    } finally {
      for (const { next, backup } of prepared) for (const file of [next, backup]) remove(file);
    }
    return changes.map(({ content }, index) => versionOf(places[index] as Place, content));
  });
}

/** Holds every folder open until all of it is over. */
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
  if (place.path === '') throw new Refusal('tool_failed', 'the workspace itself is a folder');
  const found = lstatSync(place.handle, { throwIfNoEntry: false });
  if (found !== undefined) refuseUnlessFile(found, place.path);
  if (expected !== undefined && versionAt(place) !== expected) {
    const what = found === undefined ? 'is gone' : expected === null ? 'exists already' : 'has changed';
    throw new Refusal('conflict', `${place.path} ${what} since it was read: read it again`);
  }
  const next = besides(place, 'next');
  write(next, content, found === undefined ? NEW_FILE_MODE : found.mode & 0o777);
  return next;
}

/** Another name for what is there now. The system lets nobody link a file that is not theirs: that is copied. */
function keep(place: Place): string | null {
  if (lstatSync(place.handle, { throwIfNoEntry: false }) === undefined) return null;
  const backup = besides(place, 'before');
  try {
    linkSync(place.handle, backup);
  } catch {
    copyFileSync(place.handle, backup, constants.COPYFILE_EXCL);
  }
  return backup;
}

/** A new file each time: what else is linked to the old one keeps its content. */
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

function putBack({ place, backup }: Prepared): void {
  if (backup === null) remove(place.handle);
  else renameSync(backup, place.handle);
}

function remove(path: string | null): void {
  if (path !== null) rmSync(path, { force: true });
}

/** Short, because a name has at most 255 bytes and the file's own may have as many. */
function besides({ handle, path }: Place, role: string): string {
  const folder = handle.slice(0, handle.length - basename(path).length);
  return `${folder}.patchboard-${role}-${randomBytes(8).toString('hex')}`;
}

function versionOf({ path }: Place, content: string): FileVersion {
  const bytes = Buffer.from(content, 'utf8');
  return { path, size: bytes.length, version: createHash('sha256').update(bytes).digest('hex') };
}

function refused(error: unknown): unknown {
  switch (errorCode(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Refusal('permission_denied', 'the file or its folder may not be written');
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new Refusal('tool_failed', 'there is no room for the file');
    case 'ENAMETOOLONG':
      return new Refusal('input_invalid', 'the name is too long');
    default:
      return error;
  }
}
