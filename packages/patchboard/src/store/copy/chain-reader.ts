import { SingleChainCheck } from '../../core/ledger/chain-check.ts';
import { GENESIS, type LedgerKind } from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';
import { COPY_WRITER } from './ledger-copy.ts';
import type { SourceLedgerRow } from './sqlite-source.ts';

export interface ChainEnd {
  readonly rows: number;
  readonly hash: string;
  /** Null if the whole chain is valid. */
  readonly problem: string | null;
}

/** Passes the rows of a table to the check of a chain, and stops at the first that is missing or changed. */
export class ChainReader {
  readonly #chain: SingleChainCheck;
  #rows = 0;
  #problem: string | null = null;

  constructor(digest: Digest) {
    this.#chain = new SingleChainCheck(digest, GENESIS);
  }

  take(row: SourceLedgerRow & { readonly writer?: number }): void {
    if (this.#problem !== null) return;
    const { seq, call_id: callId, trace_id: traceId, writer = COPY_WRITER } = row;
    const next = this.#rows + 1;
    if (writer !== COPY_WRITER || seq !== next) this.#problem = `row ${next} is missing`;
    else if (this.#chain.take({ ...row, kind: row.kind as LedgerKind, callId, traceId }) !== null)
      this.#problem = `row ${seq} was changed`;
    else this.#rows = seq;
  }

  end(): ChainEnd {
    return { rows: this.#rows, hash: this.#chain.headHash, problem: this.#problem };
  }
}
