import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

/** One file of the built console. */
export interface ConsoleFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Buffer;
  /** Compressed bytes; null if compression saves nothing. */
  readonly gzipped: Buffer | null;
  /** Compressed by the build, because it takes seconds; null if it was not. */
  readonly brotli: Buffer | null;
  /** The name contains a content hash, so browsers may cache the file forever. */
  readonly isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * The files of the built console by path. The folder is listed once, and again when a listed file is gone: a new build has
 * replaced it. Only listed files are opened, so the path of a request never reaches the file system.
 */
export class ConsoleFiles {
  readonly #folder: string;
  #paths: ReadonlyMap<string, string> | null = null;
  /** Immutable files of an earlier build stay: tabs that are still open request them. */
  readonly #read: Map<string, ConsoleFile> = new Map();

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(path: string): ConsoleFile | null {
    const known = this.#read.get(path);
    if (known !== undefined) return known;
    this.#paths ??= listFiles(this.#folder);
    const file = this.#paths.get(path);
    if (file === undefined) {
      // Nothing is built yet: list again next time.
      if (this.#paths.size === 0) this.#paths = null;
      return null;
    }
    const found = readFile(file, path);
    if (found === null) {
      this.#forgetBuild();
      return null;
    }
    this.#read.set(path, found);
    return found;
  }

  /** The next request lists and reads the files of the new build. */
  #forgetBuild(): void {
    this.#paths = null;
    for (const [path, { isImmutable }] of this.#read) if (!isImmutable) this.#read.delete(path);
  }
}

function listFiles(folder: string): ReadonlyMap<string, string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
    return new Map(
      files.map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return [relative(folder, file).split(sep).join('/'), file];
      }),
    );
  } catch (error) {
    if (isAbsent(error)) return new Map();
    throw error;
  }
}

/** Returns null if the file is gone. */
function readFile(file: string, path: string): ConsoleFile | null {
  const bytes = readIfThere(file);
  if (bytes === null) return null;
  const gzipped = gzipSync(bytes);
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    bytes,
    gzipped: gzipped.length < bytes.length ? gzipped : null,
    brotli: readIfThere(`${file}.br`),
    isImmutable: path.startsWith('assets/'),
  };
}

function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
