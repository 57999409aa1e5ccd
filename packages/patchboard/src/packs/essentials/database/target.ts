import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The database that `database.query` reads. */
export type DatabaseTarget =
  /** The shipped sample shop, written to `file` when that is missing. */
  | { readonly kind: 'sample'; readonly file: string }
  | { readonly kind: 'sqlite'; readonly file: string }
  /** Give it a role that may only SELECT: the checks here are a second wall, not the first. */
  | { readonly kind: 'postgres'; readonly url: string };

/** Reads a configured address: a PostgreSQL URL, or the path or `file:` URL of a SQLite file; null is the sample. */
export function resolveTarget(address: string | null, sampleFile: string): DatabaseTarget {
  if (address === null) return { kind: 'sample', file: resolve(sampleFile) };
  if (/^postgres(?:ql)?:/i.test(address)) return { kind: 'postgres', url: address };
  // Always absolute: SQLite would take a relative name that begins with `file:` for an address with options.
  return { kind: 'sqlite', file: resolve(address.startsWith('file://') ? fileURLToPath(address) : address) };
}

/** What must never be read through a tool: the platform's own store. */
export interface Forbidden {
  readonly files: readonly string[];
  readonly urls: readonly string[];
}

/** Says why a target may not be used, or undefined. Files may appear later, so it is asked before every query. */
export function problemWithTarget(target: DatabaseTarget, forbidden: Forbidden): string | undefined {
  const own =
    target.kind === 'postgres'
      ? forbidden.urls.some((url) => isSameDatabase(url, target.url))
      : forbidden.files.some((file) => isSameFile(file, target.file));
  return own ? "the configured database is the platform's own store, which no tool may read" : undefined;
}

function isSameFile(left: string, right: string): boolean {
  if (resolve(left) === resolve(right) || realPath(left) === realPath(right)) return true;
  const [a, b] = [statOf(left), statOf(right)];
  // A hard link has another path and the same inode.
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file); // it does not exist yet
  }
}

function statOf(file: string): { dev: bigint; ino: bigint } | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

/** Compares where two addresses lead; whoever they log in as does not matter. */
function isSameDatabase(left: string, right: string): boolean {
  return placeOf(left) === placeOf(right);
}

function placeOf(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  const host = ['localhost', '[::1]', ''].includes(url.hostname) ? '127.0.0.1' : url.hostname.toLowerCase();
  const database = url.pathname === '' || url.pathname === '/' ? `/${url.username}` : url.pathname;
  return `${host}:${url.port === '' ? '5432' : url.port}${database}`;
}
