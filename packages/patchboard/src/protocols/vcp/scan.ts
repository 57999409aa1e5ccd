import { REQUEST_START } from '@patchboard/wire/vcp';
import type { ReplyItem } from '../protocol.ts';
import { Finders } from './finder.ts';
import { leadBefore } from './line-lead.ts';
import { isDeciding, keep, type Found, type OpenNesting } from './nesting.ts';
import { readPlainRequest } from './plain-request.ts';
import { GAP, PROSE, type Block, type OpenCode, type Place, type VcpState } from './state.ts';
import { TickRuns } from './tick-runs.ts';

/** The mutable state of the parser while it reads one piece of a reply. */
export class Scan {
  /** True: no piece follows, so an incomplete marker is text. */
  readonly isLast: boolean;
  readonly items: ReplyItem[] = [];
  text: string;
  find: Finders;
  place: Place;
  at = 0;
  /** The end of a damaged request that is parsed again for its fences and thoughts: no request begins before it. */
  damagedEnd = 0;
  nesting: OpenNesting | null;
  #runs: TickRuns | null = null;
  /** The lead of the line that the text begins in. */
  #lead: string | null;
  /** The offset of the text in the reply. */
  #offset: number;
  /** The index where the current prose or block begins. */
  #from = 0;

  constructor(state: VcpState, chunk: string, isLast: boolean) {
    this.text = state.unparsed + chunk;
    this.find = new Finders(this.text);
    this.isLast = isLast;
    this.place = state.place;
    this.nesting = state.nesting;
    this.#offset = state.offset;
    this.#lead = state.place.kind === 'prose' ? state.place.lead : null;
  }

  /** Converts an index of the text to an offset in the reply. */
  offsetOf(at: number): number {
    return this.#offset + at;
  }

  /** Built on first use: most replies need none. */
  get runs(): TickRuns {
    this.#runs ??= new TickRuns(this.text, this.at, this.isLast);
    return this.#runs;
  }

  /** The line up to `at`, if it has only spaces and the marks of quotes and lists; else null. */
  lead(): string | null {
    return leadBefore(this.text, this.at, this.#lead);
  }

  /** Reads the request at the marker at `at` if the fast path can. Returns false, and changes nothing, if it cannot. */
  takePlainRequest(): boolean {
    // While a value may be open, each request needs the general parser's decision whether it is inside.
    if (this.nesting !== null) return false;
    const request = readPlainRequest(this.text, this.at, this.#offset);
    if (request === null) return false;
    this.emitText();
    this.items.push({ kind: 'request', request });
    this.at += request.rawBlock.length;
    this.#from = this.at;
    return true;
  }

  /** Opens a block at the request marker at `at`. */
  openBlock(): void {
    this.emitText();
    this.#from = this.at;
    const block: Block = { offset: this.offsetOf(this.at), raw: '', fields: null, problem: null };
    this.place = { kind: 'block', block, part: GAP };
    this.at += REQUEST_START.length;
  }

  /** Closes the block before `at`, and returns its text. */
  closeBlock(block: Block): string {
    const raw = this.#rawOf(block);
    this.#from = this.at;
    this.place = PROSE;
    return raw;
  }

  /**
   * Ends a damaged block before `at` and parses it again as text, so that a fence, a code span or a thought that begins
   * in it hides the requests after it.
   */
  readAgain(block: Block): void {
    const { nesting } = this;
    if (nesting !== null && nesting.kept !== null) this.nesting = keep(nesting, this.#rawOf(block));
    const begin = block.offset - this.#offset;
    const end = this.at;
    if (begin < 0) this.#prepend(block.raw);
    this.damagedEnd = begin < 0 ? end - begin : end;
    this.at = Math.max(0, begin) + REQUEST_START.length;
    this.#from = this.damagedEnd;
    this.place = PROSE;
  }

  /** A run of backticks has no closing run on its line: parses the text after it again. */
  release({ held, damagedEnd }: OpenCode): void {
    this.#prepend(held);
    this.damagedEnd = damagedEnd;
    this.at = 0;
    this.#from = damagedEnd;
    this.place = PROSE;
  }

  /** Emits the text from a backtick up to `at` as code. */
  emitCode({ held, damagedEnd }: OpenCode): void {
    this.#emit(held.slice(damagedEnd));
    this.place = PROSE;
  }

  /** Emits requests and errors, or keeps them if the end of the reply decides on them. */
  found(items: readonly Found[]): void {
    for (const item of items) {
      if (isDeciding(this.nesting, item)) this.nesting = keep(this.nesting, item);
      else this.items.push(item);
    }
  }

  /** Emits the text up to `at`. */
  emitText(): void {
    if (this.at > this.#from) this.#emit(this.text.slice(this.#from, this.at));
    this.#from = Math.max(this.#from, this.at);
  }

  /** Ends the piece, and returns the state for the next one. */
  leave(): VcpState {
    let { place } = this;
    if (place.kind === 'block')
      place = { ...place, block: { ...place.block, raw: this.#rawOf(place.block) } };
    else if (place.kind !== 'code') this.emitText();
    if (place.kind === 'prose') {
      const lead = this.lead();
      place = lead === null ? PROSE : { kind: 'prose', lead };
    }
    return {
      place,
      unparsed: this.text.slice(this.at),
      offset: this.offsetOf(this.at),
      nesting: this.nesting,
    };
  }

  #rawOf(block: Block): string {
    return block.raw + this.text.slice(this.#from, this.at);
  }

  /** Called at most once per piece: only its first position has text from before. */
  #prepend(before: string): void {
    this.text = before + this.text;
    this.#offset -= before.length;
    this.find = new Finders(this.text);
    this.#runs = null;
    this.#lead = null;
  }

  #emit(text: string): void {
    if (text === '') return;
    this.items.push({ kind: 'text', text });
    if (isDeciding(this.nesting, text)) this.nesting = keep(this.nesting, text);
  }
}
