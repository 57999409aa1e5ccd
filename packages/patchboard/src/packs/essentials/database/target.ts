import { reason, type Reason } from '@patchboard/wire';
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { BadDatabaseUrl, connectionOptions } from '../../../postgres/connection-options.ts';

/** The database that `database.query` reads. */
export type DatabaseTarget =
  /** The included sample shop, written to `file` if that is missing. */
  | { readonly kind: 'sample'; readonly file: string }
  | { readonly kind: 'sqlite'; readonly file: string }
  /** The role should only have SELECT: the checks here are the second line of defence. */
  | { readonly kind: 'postgres'; readonly url: string };

/** Parses a configured address: a PostgreSQL URL, or the path or `file:` URL of a SQLite file; null for the sample. */
export function resolveTarget(address: string | null, sampleFile: string): DatabaseTarget {
  if (address === null) return { kind: 'sample', file: resolve(sampleFile) };
  if (/^postgres(?:ql)?:/i.test(address)) return { kind: 'postgres', url: address };
  // Always absolute: SQLite would parse a relative name that starts with `file:` as a URI with options.
  return { kind: 'sqlite', file: resolve(address.startsWith('file://') ? fileURLToPath(address) : address) };
}

/** Databases that no tool may read: the platform's own store. */
export interface Forbidden {
  readonly files: readonly string[];
  readonly urls: readonly string[];
}

/** Returns why a target is forbidden, or undefined. Called before every query, because files may appear later. */
export function problemWithTarget(target: DatabaseTarget, forbidden: Forbidden): Reason | undefined {
  const own =
    target.kind === 'postgres'
      ? forbidden.urls.some((url) => isSameDatabase(url, target.url))
      : forbidden.files.some((file) => isSameFile(file, target.file));
  return own ? reason('database_is_own_store') : undefined;
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

/** Compares host, port and database, not the user. */
function isSameDatabase(left: string, right: string): boolean {
  return placeOf(left) === placeOf(right);
}

/** As the driver reads the URL: its parameters may name another host or database. */
function placeOf(address: string): string {
  try {
    const { host, port, database } = connectionOptions(address);
    return JSON.stringify([isLocal(host) ? '127.0.0.1' : host.toLowerCase(), port, database]);
  } catch (error) {
    if (error instanceof BadDatabaseUrl) return address; // such a URL connects to no database
    throw error;
  }
}

/** A path is that of a Unix socket; the server behind it usually listens on loopback too. */
function isLocal(host: string): boolean {
  return host.startsWith('/') || ['localhost', '::1', ''].includes(host.toLowerCase());
}
