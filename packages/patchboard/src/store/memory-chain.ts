import { GENESIS, chainHash, type LedgerDraft, type LedgerKind, type LedgerRow } from '../core/ledger.ts';
import type { Digest } from '../core/ports.ts';

/** The hash chain. Hashes are worked out when somebody looks: most runs in memory never ask. */
export class MemoryChain {
  readonly rows: LedgerRow[] = [];
  readonly #hashes: string[] = [];
  readonly #digest: Digest;

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  add(draft: LedgerDraft): LedgerRow {
    const row = new ChainRow(draft, this.rows.length + 1, this);
    this.rows.push(row);
    return row;
  }

  hashOf(seq: number): string {
    for (const row of this.rows.slice(this.#hashes.length, seq)) {
      this.#hashes.push(chainHash(this.#digest, this.#hashes.at(-1) ?? GENESIS, row.seq, row));
    }
    return this.#hashes[seq - 1] ?? GENESIS;
  }
}

class ChainRow implements LedgerRow {
  readonly seq: number;
  readonly at: number;
  readonly tenant: string;
  readonly kind: LedgerKind;
  readonly callId: string | null;
  readonly traceId: string | null;
  readonly body: string;
  readonly #chain: MemoryChain;

  constructor(draft: LedgerDraft, seq: number, chain: MemoryChain) {
    this.seq = seq;
    this.at = draft.at;
    this.tenant = draft.tenant;
    this.kind = draft.kind;
    this.callId = draft.callId;
    this.traceId = draft.traceId;
    this.body = draft.body;
    this.#chain = chain;
  }

  get hash(): string {
    return this.#chain.hashOf(this.seq);
  }
}
