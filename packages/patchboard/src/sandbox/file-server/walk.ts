import { closeSync, constants, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode, MissingFolder, Refusal } from './refusal.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const MAX_LINKS = 40;

/** A name in an open folder. The open descriptor prevents that the folder is replaced meanwhile. */
export interface Place {
  /** The descriptor of the folder; null on systems that cannot open a path relative to one. */
  readonly folder: number | null;
  /** The path for system calls. */
  readonly handle: string;
  /** The path from the root, without links. */
  readonly path: string;
}

/**
 * Walks to `given` one open folder at a time and passes the last name to `use`. Resolves links itself instead of letting
 * the system follow them, and throws a `Refusal` for a path that leaves the root.
 */
export function atPlace<T>(root: string, given: string, create: boolean, use: (place: Place) => T): T {
  let steps = stepsTo(root, root, given, given);
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const walked = walk(root, steps, create);
    try {
      if (walked.link === null) return use(walked.place);
      const target = stepsTo(root, join(root, walked.folder), walked.link, given);
      steps = [...target, ...walked.rest];
    } finally {
      if (walked.place.folder !== null) closeSync(walked.place.folder);
    }
  }
  throw new Refusal('tool_failed', { code: 'path_many_links', params: { path: given } });
}

interface Walked {
  readonly place: Place;
  /** The target of the link at which the walk stopped; null if it reached the end. */
  readonly link: string | null;
  /** The folder of the link, from the root. */
  readonly folder: string;
  readonly rest: readonly string[];
}

function walk(root: string, steps: readonly string[], create: boolean): Walked {
  // The operator named the root: it may be a link.
  let folder = openFolder(root, 0);
  let at = '';
  try {
    for (const [index, step] of steps.entries()) {
      const handle = nameIn(root, folder, at, step);
      const found = lstatSync(handle, { throwIfNoEntry: false });
      const place = { folder, handle, path: join(at, step) };
      const rest = steps.slice(index + 1);
      if (found?.isSymbolicLink() === true) return { place, link: readlinkSync(handle), folder: at, rest };
      if (rest.length === 0) return { place, link: null, folder: at, rest };
      const next = openStep(place, create && found === undefined);
      if (folder !== null) closeSync(folder);
      folder = next;
      at = place.path;
    }
  } catch (error) {
    if (folder !== null) closeSync(folder);
    throw error;
  }
  return {
    place: { folder, handle: nameIn(root, folder, at, '.'), path: at },
    link: null,
    folder: at,
    rest: [],
  };
}

function openStep({ handle, path }: Place, isNew: boolean): number | null {
  try {
    if (isNew) mkdirSync(handle);
    return openFolder(handle);
  } catch (error) {
    throw toRefusal(error, path);
  }
}

/** Returns the names on the path. Resolves `..` before anything is opened, and throws a `Refusal` if the path leaves the root. */
function stepsTo(root: string, base: string, given: string, requested: string): string[] {
  if (given.includes('\0')) throw new Refusal('input_invalid', { code: 'path_with_nul', params: {} });
  const path = relative(root, resolve(base, given));
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path))
    throw new Refusal('permission_denied', {
      code: given === requested ? 'path_outside' : 'path_leads_outside',
      params: { path: requested },
    });
  return path === '' ? [] : path.split(sep);
}

function openFolder(handle: string, links: number = O_NOFOLLOW): number | null {
  const folder = openSync(handle, O_RDONLY | O_DIRECTORY | links);
  if (process.platform === 'linux') return folder;
  closeSync(folder);
  return null;
}

/** On Linux, names the file relative to the open folder. On other systems the sandbox alone protects against replaced folders. */
function nameIn(root: string, folder: number | null, at: string, name: string): string {
  return folder === null ? join(root, at, name) : `/proc/self/fd/${folder}/${name}`;
}

function toRefusal(error: unknown, path: string): unknown {
  switch (errorCode(error)) {
    case 'ENOENT':
      return new MissingFolder(path);
    case 'ENOTDIR':
    case 'ELOOP':
      return new Refusal('tool_failed', { code: 'path_not_folder', params: { path } });
    case 'EACCES':
      return new Refusal('permission_denied', { code: 'path_not_readable', params: { path } });
    default:
      return error;
  }
}
