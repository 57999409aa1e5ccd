import { createHash } from 'node:crypto';
import type { Column, CopiedRow } from './copied-tables.ts';

export interface TableDigest {
  readonly rows: number;
  /** Hexadecimal SHA-256 over all rows in their order. */
  readonly sha256: string;
}

/** Hashes the rows of a table, so that two copies of it can be compared without holding them. */
export class RowDigest {
  readonly #hash = createHash('sha256');
  readonly #names: readonly string[];
  #rows = 0;

  constructor(columns: readonly Column[]) {
    this.#names = columns.map(([name]) => name);
  }

  take(row: CopiedRow): void {
    this.#hash.update(`${JSON.stringify(this.#names.map((name) => row[name]))}\n`);
    this.#rows += 1;
  }

  end(): TableDigest {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') };
  }
}
