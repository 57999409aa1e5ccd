import { closeSync, constants, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode, MissingFolder, Refusal } from './refusal.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const MAX_LINKS = 40;

/** A name in an open folder: nobody can put another folder in its place any more. */
export interface Place {
  /** Of the folder, or null where the system has no way to name things in an open folder. */
  readonly folder: number | null;
  /** Reaches the thing itself. */
  readonly handle: string;
  /** From the root, free of links. */
  readonly path: string;
}

/**
 * Walks to `given` one open folder at a time and gives the last name to `use`. Links are read and walked themselves,
 * never followed by the system, and whatever leads out of the root is refused.
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
  throw new Refusal('tool_failed', `too many links on the way to ${given}`);
}

interface Walked {
  readonly place: Place;
  /** Where the link leads that stands in the way; null: none does. */
  readonly link: string | null;
  /** The folder that holds it, from the root. */
  readonly folder: string;
  readonly rest: readonly string[];
}

function walk(root: string, steps: readonly string[], create: boolean): Walked {
  let folder = openFolder(root);
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
    throw stepRefused(error, path);
  }
}

/** The names on the way, or a refusal if it leaves the root. `..` is settled here, before anything is opened. */
function stepsTo(root: string, base: string, given: string, asked: string): string[] {
  if (given.includes('\0')) throw new Refusal('input_invalid', 'a path holds no NUL character');
  const path = relative(root, resolve(base, given));
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path))
    throw new Refusal(
      'permission_denied',
      `${asked} ${given === asked ? 'is' : 'leads'} outside the workspace`,
    );
  return path === '' ? [] : path.split(sep);
}

function openFolder(handle: string): number | null {
  const folder = openSync(handle, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (process.platform === 'linux') return folder;
  closeSync(folder);
  return null;
}

/** Linux names a thing in an open folder like this; elsewhere the enclosure alone has to hold. */
function nameIn(root: string, folder: number | null, at: string, name: string): string {
  return folder === null ? join(root, at, name) : `/proc/self/fd/${folder}/${name}`;
}

function stepRefused(error: unknown, path: string): unknown {
  switch (errorCode(error)) {
    case 'ENOENT':
      return new MissingFolder(path);
    case 'ENOTDIR':
    case 'ELOOP':
      return new Refusal('tool_failed', `${path} is no folder`);
    case 'EACCES':
      return new Refusal('permission_denied', `${path} may not be read`);
    default:
      return error;
  }
}
