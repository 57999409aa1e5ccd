import { setImmediate as nextTurn } from 'node:timers/promises';
import { isEventKind } from '../../core/ledger/event-kinds.ts';
import type { CommittedRow } from '../../core/ports.ts';
import { BLOCK_ROWS, BlockPostings, blockOf, type EventPostings } from './event-postings.ts';

/** Blocks that are written by one transaction. */
const BLOCKS_AT_ONCE = 8;

/** Whole blocks that wait in memory to be written; of others the rows are read again. */
const WAITING_BLOCKS = 16;

export interface IndexerParts {
  readonly postings: EventPostings;
  /** The newest ledger row at the start; it is durable. */
  readonly head: number;
  /** Reads the rows of one block from the store. */
  readonly readBlock: (block: number) => BlockPostings;
  /** Resolves when what `apply` wrote is durable. */
  readonly write: (apply: () => void) => Promise<void>;
}

/**
 * Writes the index of events behind the commits, block by block and in order. Rows that are committed while it runs are
 * listed in memory; those of an older store, or of a block that an earlier process began, are read again, one block in
 * each event-loop turn. Where it stands is stored with what it writes, so a restart goes on from there.
 */
export class EventIndexer {
  readonly #parts: IndexerParts;
  readonly #whole: Map<number, BlockPostings> = new Map();
  /** The block that is being filled; null: its beginning was not seen. */
  #current: BlockPostings | null = null;
  #head: number;
  #isWorking = false;
  #isClosed = false;

  constructor(parts: IndexerParts) {
    this.#parts = parts;
    this.#head = parts.head;
    this.#work();
  }

  /** The newest ledger row that is durable. */
  get head(): number {
    return this.#head;
  }

  /** Durable rows, in order of sequence. */
  committed(rows: readonly CommittedRow[]): void {
    for (const committed of rows) this.#take(committed);
    this.#work();
  }

  close(): void {
    this.#isClosed = true;
  }

  #take({ row, call }: CommittedRow): void {
    const { seq, tenant, kind, callId } = row;
    const block = blockOf(seq);
    this.#head = seq;
    if (seq === block * BLOCK_ROWS + 1) this.#current = new BlockPostings(block);
    if (this.#current === null) return;
    if (isEventKind(kind)) {
      this.#current.add({
        seq,
        tenant,
        callId,
        agentId: call?.agentId ?? null,
        clientId: call?.clientId ?? null,
      });
    }
    if (seq < (block + 1) * BLOCK_ROWS) return;
    if (this.#whole.size < WAITING_BLOCKS) this.#whole.set(block, this.#current);
    this.#current = null;
  }

  #work(): void {
    if (this.#isWorking || !this.#isBehind()) return;
    this.#isWorking = true;
    // A full disk, or a store that refuses every write: reads take from the ledger what is not indexed, and the next
    // whole block tries again.
    this.#writeBlocks()
      .catch(() => undefined)
      .finally(() => (this.#isWorking = false));
  }

  #isBehind(): boolean {
    return !this.#isClosed && this.#parts.postings.blocks < Math.floor(this.#head / BLOCK_ROWS);
  }

  async #writeBlocks(): Promise<void> {
    const { postings, write } = this.#parts;
    while (this.#isBehind()) {
      const blocks = await this.#nextBlocks();
      if (this.#isClosed) return;
      await write(() => postings.write(blocks));
      postings.written(blocks);
      for (const { block } of blocks) this.#whole.delete(block);
    }
  }

  async #nextBlocks(): Promise<readonly BlockPostings[]> {
    const first = this.#parts.postings.blocks;
    const end = Math.min(first + BLOCKS_AT_ONCE, Math.floor(this.#head / BLOCK_ROWS));
    const blocks: BlockPostings[] = [];
    for (let block = first; block < end; block += 1) {
      const known = this.#whole.get(block);
      if (known === undefined) await nextTurn();
      if (this.#isClosed) break;
      blocks.push(known ?? this.#parts.readBlock(block));
    }
    return blocks;
  }
}
