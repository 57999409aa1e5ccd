import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';

/** Whether the path is the folder or lies in it, also by links. */
export function contains(folder: string, path: string): boolean {
  const below = relative(realPath(folder), realPath(path));
  return !isAbsolute(below) && below.split(sep)[0] !== '..';
}

/** Returns the path itself if nothing is there. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
