import { reason, type Reason } from '@patchboard/wire';
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { OwnStore } from '../../../postgres/own-store.ts';

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
  /** In PostgreSQL. Only the connection of a query shows whether its role can read it. Null: there is none. */
  readonly store: OwnStore | null;
}

/** Returns why a file is forbidden, or undefined. Called before every query, because files may appear later. */
export function problemWithTarget(target: DatabaseTarget, { files }: Forbidden): Reason | undefined {
  const isOwn = target.kind !== 'postgres' && files.some((file) => isSameFile(file, target.file));
  return isOwn ? reason('database_is_own_store') : undefined;
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
