import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
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
 * The files of the built console by path. The folder is listed once, and again when it has changed or a listed file is gone: a
 * new build has replaced it. Only listed files are opened, so the path of a request never reaches the file system.
 */
export class ConsoleFiles {
  readonly #folder: string;
  #paths: ReadonlyMap<string, string> = new Map();
  /** The state of the folder that `#paths` is of; null: it was not listed. */
  #listedState: string | null = null;
  /** Immutable files of an earlier build stay: tabs that are still open request them. */
  readonly #read: Map<string, ConsoleFile> = new Map();

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(path: string): ConsoleFile | null {
    const known = this.#read.get(path);
    if (known !== undefined) return known;
    const file = this.#paths.get(path) ?? this.#listed().get(path);
    if (file === undefined) return null;
    const found = readFile(file, path);
    if (found === null) {
      this.#forgetBuild();
      return null;
    }
    this.#read.set(path, found);
    return found;
  }

  /** Lists the folder if it has changed: a build may have been writing it when it was listed. */
  #listed(): ReadonlyMap<string, string> {
    const state = stateOf(this.#folder);
    if (state !== this.#listedState) this.#paths = listFiles(this.#folder);
    this.#listedState = state;
    return this.#paths;
  }

  /** The next request lists and reads the files of the new build. */
  #forgetBuild(): void {
    this.#paths = new Map();
    this.#listedState = null;
    for (const [path, { isImmutable }] of this.#read) if (!isImmutable) this.#read.delete(path);
  }
}

/** Changes when a file is added to the folder or its assets, or removed. */
function stateOf(folder: string): string {
  const times = [folder, join(folder, 'assets')].map(
    (path) => statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n,
  );
  return times.join(' ');
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
