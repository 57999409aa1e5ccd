import { setImmediate as nextTurn } from 'node:timers/promises';
import { isEventKind } from '../../core/ledger/event-kinds.ts';
import type { CommittedRow } from '../../core/ports.ts';
import { BLOCK_ROWS, BlockPostings, blockOf, type EventPostings } from './event-postings.ts';

/** Blocks written in one transaction. */
const BLOCKS_AT_ONCE = 8;

/** Complete blocks kept in memory until they are written; the rows of further blocks are read again. */
const WAITING_BLOCKS = 16;

export interface IndexerParts {
  readonly postings: EventPostings;
  /** The newest durable ledger row at the start. */
  readonly head: number;
  /** Reads the rows of one block from the store. */
  readonly readBlock: (block: number) => BlockPostings;
  /** Resolves when the writes of `apply` are durable. */
  readonly write: (apply: () => void) => Promise<void>;
}

/**
 * Writes the index of events asynchronously after the commits, block by block and in order. Rows committed while it runs
 * are collected in memory. Rows of an older store, or of a block that an earlier process started, are read again, one
 * block per turn of the event loop. The position is stored with the index, so that a restart continues there.
 */
export class EventIndexer {
  readonly #parts: IndexerParts;
  readonly #whole: Map<number, BlockPostings> = new Map();
  /** The incomplete block; null if its first rows were committed before the start. */
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

  /** Must be called with durable rows, in order of sequence. */
  committed(rows: readonly CommittedRow[]): void {
    for (const committed of rows) this.#add(committed);
    this.#work();
  }

  close(): void {
    this.#isClosed = true;
  }

  #add({ row, call }: CommittedRow): void {
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
    // On an error, such as a full disk, the next complete block triggers another attempt. Reads use the ledger itself
    // for rows that are not indexed.
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
