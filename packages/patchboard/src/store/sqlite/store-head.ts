import { readFileSync } from 'node:fs';
import type { Digest } from '../../core/ports.ts';
import { StoreRefused } from '../store-refused.ts';

/**
 * The newest state of the store, in a separate file beside the database. A database that lost its newest rows is consistent
 * in itself; only a record outside of it reveals the loss.
 */
export interface StoreHead {
  readonly storeId: string;
  /** The newest durable ledger row when the file was written. */
  readonly seq: number;
  readonly hash: string;
  /** Whether a key has existed, so that local mode has ended. */
  readonly keysExisted: boolean;
}

export type HeadFile =
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly head: StoreHead }
  | { readonly kind: 'refused'; readonly problem: string };

const FORMAT = 1;

export function headFileOf(databaseFile: string): string {
  return `${databaseFile}-head`;
}

export function isSameHead(one: StoreHead, other: StoreHead): boolean {
  return (
    one.storeId === other.storeId &&
    one.seq === other.seq &&
    one.hash === other.hash &&
    one.keysExisted === other.keysExisted
  );
}

export function headText(head: StoreHead, digest: Digest): string {
  return `${JSON.stringify({ ...fieldsOf(head), sha256: checksumOf(head, digest) })}\n`;
}

/** Throws `StoreRefused` if a folder has the name of the file: then the loss cannot be accepted either. */
export function readHead(databaseFile: string, digest: Digest): HeadFile {
  try {
    return decode(readFileSync(headFileOf(databaseFile), 'utf8'), digest);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'none' };
    if (code === 'EISDIR')
      throw new StoreRefused(
        headFileOf(databaseFile),
        'is a folder, and must be a file',
        'restore the data folder from a backup; without that folder the start cannot detect lost ledger rows',
      );
    throw error;
  }
}

/** Returns the head in the file; null if the file is missing or invalid. */
export function writtenHead(databaseFile: string, digest: Digest): StoreHead | null {
  const found = readHead(databaseFile, digest);
  return found.kind === 'read' ? found.head : null;
}

function decode(text: string, digest: Digest): HeadFile {
  const { format, store_id: storeId, seq, hash, keys_existed: keysExisted, sha256 } = fieldsIn(text);
  if (typeof format === 'number' && format > FORMAT)
    return { kind: 'refused', problem: `was written by a newer Patchboard (format ${format})` };
  if (
    typeof storeId !== 'string' ||
    typeof seq !== 'number' ||
    typeof hash !== 'string' ||
    typeof keysExisted !== 'boolean'
  )
    return { kind: 'refused', problem: 'is damaged (it is not a head file)' };
  const head: StoreHead = { storeId, seq, hash, keysExisted };
  if (sha256 !== checksumOf(head, digest))
    return { kind: 'refused', problem: 'is damaged (its checksum does not match)' };
  return { kind: 'read', head };
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function fieldsOf({ storeId, seq, hash, keysExisted }: StoreHead): Record<string, unknown> {
  return { format: FORMAT, store_id: storeId, seq, hash, keys_existed: keysExisted };
}

function checksumOf(head: StoreHead, digest: Digest): string {
  return digest.sha256(JSON.stringify(fieldsOf(head)));
}
