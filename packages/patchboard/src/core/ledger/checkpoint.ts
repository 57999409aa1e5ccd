import type { Digest } from '../ports.ts';

/** A position of the ledger up to which it was verified. A later check continues from there. */
export interface LedgerCheckpoint {
  /** Sequence number of the last verified row; 0: none. */
  readonly seq: number;
  /** The hash that `LedgerHead` had at that row. */
  readonly hash: string;
  /** The hash of the last row of each writer, see `writersHash`. Null: the ledger is one chain. */
  readonly writers: string | null;
}

/** The last row of a writer's chain. */
export interface WriterHead {
  readonly writer: number;
  /** Its number in the writer's chain. */
  readonly no: number;
  readonly hash: string;
}

export const CHECKPOINT_PATTERN: RegExp = /^([0-9]{1,15}):([0-9a-f]{64})(?::([0-9a-f]{64}))?$/;

/** The form of a checkpoint, for error messages. */
export const CHECKPOINT_FORM =
  'a checkpoint <seq>:<hash>, or <seq>:<hash>:<writers>, as a verification prints it';

/** Returns null if the text is no checkpoint. */
export function parseCheckpoint(text: string): LedgerCheckpoint | null {
  const [, seq, hash, writers = null] = CHECKPOINT_PATTERN.exec(text) ?? [];
  return seq === undefined || hash === undefined ? null : { seq: Number(seq), hash, writers };
}

export function checkpointText({ seq, hash, writers }: LedgerCheckpoint): string {
  return writers === null ? `${seq}:${hash}` : `${seq}:${hash}:${writers}`;
}

/**
 * One hash over the last row of every writer. The hash of the order covers these rows too, but only through all spans before
 * it: a check that starts in the middle needs them directly, or it could not detect a writer whose chain was replaced.
 */
export function writersHash(digest: Digest, heads: Iterable<WriterHead>): string {
  const lines = [...heads]
    .toSorted((a, b) => a.writer - b.writer)
    .map(({ writer, no, hash }) => `${writer}\n${no}\n${hash}\n`);
  return digest.sha256(lines.join(''));
}
