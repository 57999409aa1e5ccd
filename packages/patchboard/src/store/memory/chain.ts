import {
  GENESIS,
  chainHash,
  type LedgerDraft,
  type LedgerKind,
  type LedgerRow,
} from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';

/** The hash chain. Rows and hashes are made when somebody looks: most runs in memory never ask. */
export class MemoryChain {
  readonly #drafts: LedgerDraft[] = [];
  readonly #hashes: string[] = [];
  readonly #digest: Digest;

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  get length(): number {
    return this.#drafts.length;
  }

  add(entries: readonly LedgerDraft[]): void {
    for (const entry of entries) this.#drafts.push(entry);
  }

  /** In order, those after `after`. */
  *rows(after: number): Generator<LedgerRow> {
    for (let index = after; index < this.#drafts.length; index += 1) {
      const draft = this.#drafts[index];
      if (draft !== undefined) yield new ChainRow(draft, index + 1, this);
    }
  }

  hashOf(seq: number): string {
    for (const draft of this.#drafts.slice(this.#hashes.length, seq)) {
      const previous = this.#hashes.at(-1) ?? GENESIS;
      this.#hashes.push(chainHash(this.#digest, previous, this.#hashes.length + 1, draft));
    }
    return this.#hashes[seq - 1] ?? GENESIS;
  }
}

/** Not a copy with a hash in it: that would be made for every row. */
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
