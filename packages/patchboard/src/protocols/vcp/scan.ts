import { REQUEST_START } from '@patchboard/wire/vcp';
import type { ReplyItem } from '../protocol.ts';
import { Finders } from './finder.ts';
import { leadBefore } from './line-lead.ts';
import { isDeciding, keep, type Found, type OpenNesting } from './nesting.ts';
import { GAP, PROSE, type Block, type OpenCode, type Place, type VcpState } from './state.ts';
import { TickRuns } from './tick-runs.ts';

/** One piece of a reply being read: everything that moves lives here, and only as long as the piece is read. */
export class Scan {
  /** Nothing comes after this piece: half a marker is text. */
  readonly isLast: boolean;
  readonly items: ReplyItem[] = [];
  text: string;
  find: Finders;
  place: Place;
  at = 0;
  /** Below it stands a damaged request, read again for its fences and thoughts: no request begins there. */
  dead = 0;
  nesting: OpenNesting | null;
  #runs: TickRuns | null = null;
  /** Of the line that the text begins in. */
  #lead: string | null;
  /** Of the text, from the beginning of the reply. */
  #offset: number;
  /** From here on the text belongs to the prose or the block that is being read. */
  #from = 0;

  constructor(state: VcpState, chunk: string, isLast: boolean) {
    this.text = state.tail + chunk;
    this.find = new Finders(this.text);
    this.isLast = isLast;
    this.place = state.place;
    this.nesting = state.nesting;
    this.#offset = state.offset;
    this.#lead = state.place.kind === 'prose' ? state.place.lead : null;
  }

  /** From the beginning of the reply. */
  offsetOf(at: number): number {
    return this.#offset + at;
  }

  /** Found when the first is asked for: most replies need none. */
  get runs(): TickRuns {
    this.#runs ??= new TickRuns(this.text, this.at, this.isLast);
    return this.#runs;
  }

  /** The line up to `at`, if only blanks and the signs of quotes and lists stand in it; else null. */
  lead(): string | null {
    return leadBefore(this.text, this.at, this.#lead);
  }

  /** The request marker stands at `at`. */
  openBlock(): void {
    this.emitText();
    this.#from = this.at;
    const block: Block = { offset: this.offsetOf(this.at), raw: '', fields: null, problem: null };
    this.place = { kind: 'block', block, part: GAP };
    this.at += REQUEST_START.length;
  }

  /** The whole block ends before `at`. */
  closeBlock(block: Block): string {
    const raw = this.#rawOf(block);
    this.#from = this.at;
    this.place = PROSE;
    return raw;
  }

  /**
   * The damaged block ends before `at`. It counts as text for what follows: it is read again, so that a fence, a code
   * span or a thought that begins in it hides the requests after it.
   */
  readAgain(block: Block): void {
    const { nesting } = this;
    if (nesting !== null && nesting.kept !== null) this.nesting = keep(nesting, this.#rawOf(block));
    const begin = block.offset - this.#offset;
    const end = this.at;
    if (begin < 0) this.#prepend(block.raw);
    this.dead = begin < 0 ? end - begin : end;
    this.at = Math.max(0, begin) + REQUEST_START.length;
    this.#from = this.dead;
    this.place = PROSE;
  }

  /** A backtick has no partner on its line: what follows it is read again, as text. */
  release({ held, dead }: OpenCode): void {
    this.#prepend(held);
    this.dead = dead;
    this.at = 0;
    this.#from = dead;
    this.place = PROSE;
  }

  /** What follows a backtick, up to `at`, is code. */
  emitCode({ held, dead }: OpenCode): void {
    this.#emit(held.slice(dead));
    this.place = PROSE;
  }

  /** What was found, unless the end of the reply decides what it is. */
  found(items: readonly Found[]): void {
    for (const item of items) {
      if (isDeciding(this.nesting, item)) this.nesting = keep(this.nesting, item);
      else this.items.push(item);
    }
  }

  /** Text up to `at`. */
  emitText(): void {
    if (this.at > this.#from) this.#emit(this.text.slice(this.#from, this.at));
    this.#from = Math.max(this.#from, this.at);
  }

  /** Ends the piece: what was not used up is the tail of the next. */
  leave(): VcpState {
    let { place } = this;
    if (place.kind === 'block')
      place = { ...place, block: { ...place.block, raw: this.#rawOf(place.block) } };
    else if (place.kind !== 'code') this.emitText();
    if (place.kind === 'prose') {
      const lead = this.lead();
      place = lead === null ? PROSE : { kind: 'prose', lead };
    }
    return { place, tail: this.text.slice(this.at), offset: this.offsetOf(this.at), nesting: this.nesting };
  }

  #rawOf(block: Block): string {
    return block.raw + this.text.slice(this.#from, this.at);
  }

  /** At most once for each piece: only its first place has text from before. */
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
