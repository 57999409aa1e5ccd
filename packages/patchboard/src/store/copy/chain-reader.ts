import { chainHash, GENESIS, type LedgerKind } from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';
import { COPY_WRITER } from './ledger-copy.ts';
import type { SourceLedgerRow } from './sqlite-source.ts';

export interface ChainEnd {
  readonly rows: number;
  readonly hash: string;
  /** Null if the whole chain is valid. */
  readonly problem: string | null;
}

/** Checks the links of a chain, row by row, and stops at the first that is broken. */
export class ChainReader {
  readonly #digest: Digest;
  #rows = 0;
  #hash: string = GENESIS;
  #problem: string | null = null;

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  take(row: SourceLedgerRow & { readonly writer?: number }): void {
    if (this.#problem !== null) return;
    const { seq, at, tenant, kind, call_id: callId, trace_id: traceId, body, writer = COPY_WRITER } = row;
    const draft = { at, tenant, kind: kind as LedgerKind, callId, traceId, body };
    if (writer !== COPY_WRITER || seq !== this.#rows + 1) this.#problem = `row ${this.#rows + 1} is missing`;
    else if (chainHash(this.#digest, this.#hash, seq, draft) !== row.hash)
      this.#problem = `row ${seq} was changed`;
    if (this.#problem !== null) return;
    this.#rows = seq;
    this.#hash = row.hash;
  }

  end(): ChainEnd {
    return { rows: this.#rows, hash: this.#hash, problem: this.#problem };
  }
}
